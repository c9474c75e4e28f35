-- A tool's result as text: `"22C"` and `[{"text": "22C"}]` become 22C; all else is unchanged.
--
-- Some instrumentations write a text as JSON or print LangChain's message of a tool. Some
-- frameworks pass the result on as content blocks, or as a single block. A block is an object with
-- a `text` and perhaps the type `text` (OpenAI's also `input_text` and `output_text`); a text part
-- of the conventions has `content` instead. The AI SDK of Vercel writes `{"type": "text", "value":
-- "22C"}`. NULL for NULL.
CREATE OR REPLACE TEMP MACRO result_text(RESULT) AS
CASE
  -- Most results are plain text: their first characters show it.
  WHEN NOT regexp_matches(result, '^\s*["{\[]|^content=') THEN result
  WHEN regexp_matches(result, '(?s)^\s*".*"\s*$')
    THEN coalesce(try_cast(result AS JSON) ->> '$', result)
  WHEN regexp_matches(result, '^\s*\{\s*"type":\s*"text",\s*"text":')
    THEN coalesce(try_cast(result AS JSON) ->> '$.text', result)
  WHEN regexp_matches(result, '^\s*\{\s*"type":\s*"(error-)?(text|json)",\s*"value":')
    THEN coalesce(try_cast(result AS JSON) ->> '$.value', result)
  WHEN regexp_matches(result, '^\s*\[\s*\{') AND contains(result, '"text"')
    THEN if(
      len(
        list_filter(
          json_transform(
            try_cast(result AS JSON),
            '[{"type": "VARCHAR", "text": "VARCHAR", "content": "VARCHAR"}]'
          ),
          LAMBDA block:
          coalesce(block.text, if(block.type = 'text', block.content, NULL)) IS NULL
          OR coalesce(block.type, 'text') NOT IN ('text', 'input_text', 'output_text')
        )
      ) = 0,
      array_to_string(
        list_transform(
          json_transform(
            try_cast(result AS JSON), '[{"text": "VARCHAR", "content": "VARCHAR"}]'
          ),
          LAMBDA block: coalesce(block.text, block.content)
        ),
        chr(10)
      ),
      result
    )
  WHEN starts_with(result, 'content=')
    THEN coalesce(
      nullif(
        regexp_extract(
          result,
          '(?s)^content=[\x27"](.*?)[\x27"] (?:name=\x27[^\x27]*\x27 )?(?:id=\x27[^\x27]*\x27 )?'
          'tool_call_id=\x27[^\x27]*\x27(?: status=\x27\w+\x27)?$',
          1
        ), ''
      ),
      result
    )
  ELSE result
END;

-- Whether the raw result states outside its text that the call failed: in the fields of Vercel's
-- and LangChain's results that `result_text` leaves out. NULL for NULL.
CREATE OR REPLACE TEMP MACRO is_marked_failed(RESULT) AS
regexp_matches(result, '^\s*\{\s*"type":\s*"error-(text|json)"')
OR (starts_with(result, 'content=') AND ends_with(result, 'status=''error'''));
