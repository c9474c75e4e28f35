-- Whether a tool's result reports that the call failed (docs/metrics.md, section 0.7).
--
-- JSON results with such keys contain `rror` or an exit code, unless they are written with
-- escapes. False for NULL. The forms are those of MCP (`isError`), Anthropic (`is_error`, in
-- blocks `tool_result`), Bedrock (`toolResult` with a `status`), LangChain (a tool's message with
-- a `status`), AutoGen (results with `is_error` in a list), Vercel's AI SDK (`error-text`,
-- `error-json`), Codex (`metadata.exit_code`, `Exit code: N`, `Process exited with code N`),
-- Claude Code (`Exit code N`, `<tool_use_error>`).
CREATE OR REPLACE TEMP MACRO is_empty_error(ERROR) AS
coalesce(error::VARCHAR, 'null')
IN ('null', '""', '{}', '[]', 'false', '0', '0.0', '-0.0');

-- Whether an object whose `status` is error is a failure: it holds no other data, or is a tool's
-- message. Any other object with this status may be data that a tool found.
CREATE OR REPLACE TEMP MACRO is_failure_alone(CONTENT) AS
list_has_any(json_keys(content), ['toolUseId', 'tool_call_id', 'tool_use_id'])
OR list_has_all(
  [
    'code', 'content', 'data', 'description', 'detail', 'details', 'error', 'errorCode',
    'errorMessage', 'errorType', 'error_code', 'error_message', 'error_msg', 'error_type',
    'errors',
    'hint', 'message', 'msg', 'name', 'ok', 'output', 'reason', 'request_id', 'result',
    'retryable', 'stack', 'stack_trace', 'status', 'status_code', 'stderr', 'success',
    'suggestion',
    'timestamp', 'tool', 'tool_name', 'traceback', 'type'
  ],
  json_keys(content)
);

CREATE OR REPLACE TEMP MACRO says_failed(LEVEL) AS
CASE json_type(level)
  WHEN 'OBJECT'
    THEN
      coalesce(json_extract(level, '$.isError')::VARCHAR = 'true', FALSE)
      OR coalesce(json_extract(level, '$.is_error')::VARCHAR = 'true', FALSE)
      OR coalesce(level ->> '$.type' IN ('error-text', 'error-json'), FALSE)
      OR coalesce(try_cast(level ->> '$.metadata.exit_code' AS BIGINT) <> 0, FALSE)
      OR (coalesce(level ->> '$.status' = 'error', FALSE) AND is_failure_alone(level))
  -- Blocks of a message.
  WHEN 'ARRAY'
    THEN
      len(
        list_filter(
          json_transform(
            level,
            '[{"type": "VARCHAR", "is_error": "VARCHAR", "isError": "VARCHAR",
              "call_id": "VARCHAR", "toolResult": {"status": "VARCHAR"}}]'
          ),
          LAMBDA block:
          block['toolResult'].status = 'error'
          OR (
            (block.type = 'tool_result' OR block.call_id IS NOT NULL)
            AND 'true' IN (block.is_error, block['isError'])
          )
        )
      ) > 0
  ELSE FALSE
END;

-- The content of a wrapper: a server's reply, or a framework's object around each result.
CREATE OR REPLACE TEMP MACRO unwrapped(CONTENT) AS
CASE
  WHEN json_type(content) = 'OBJECT'
    THEN
      try_cast(
        coalesce(
          list_filter(
            json_extract_string(
              content,
              -- `kwargs` belong to a LangChain message that is written whole.
              ['result', 'output', 'response', 'toolResult', 'tool_result', 'content', 'kwargs']
            ),
            LAMBDA item: item IS NOT NULL
          )[1],
          CASE WHEN content ->> '$.type' = 'tool' THEN content ->> '$.data' END
        ) AS JSON
      )
END;

CREATE OR REPLACE TEMP MACRO says_failed_inside(CONTENT) AS
says_failed(content)
OR (
  json_type(content, '$.error') IN ('VARCHAR', 'OBJECT', 'ARRAY')
  AND NOT is_empty_error(json_extract(content, '$.error'))
);

-- Whether an object or list reports a failure, or its content does, or the content of that. A
-- lambda names each, since DuckDB plans a macro's argument once for each mention.
CREATE OR REPLACE TEMP MACRO tells_failure(GIVEN) AS
list_transform(
  [given],
  LAMBDA content:
  says_failed(content)
  OR NOT is_empty_error(json_extract(content, '$.error'))
  OR list_transform(
    [unwrapped(content)],
    LAMBDA wrapped:
    says_failed_inside(wrapped)
    OR list_transform([unwrapped(wrapped)], LAMBDA innermost: says_failed_inside(innermost))[1]
  )[1]
)[1];

CREATE OR REPLACE TEMP MACRO result_is_error(RESULT) AS
coalesce(
  regexp_matches(result, '^\s*(error|exception|traceback)', 'i')
  -- A JSON string, which may be cut, is a text too; its blanks may be escapes.
  OR regexp_matches(
    result, '^\s*"(\s|\\[nrt])*(error|exception|traceback)([^"\\]|\\.)*\\?("\s*)?$', 'is'
  )
  OR regexp_matches(result, '^\s*Exit code:? -?[1-9]\d*\s*(\n|$)')
  OR starts_with(result, '<tool_use_error>')
  OR regexp_matches(
    result, '^Chunk ID: \w+\n(Wall time: [^\n]*\n)?Process exited with code -?[1-9]'
  )
  OR CASE
    WHEN
      regexp_matches(result, '^\s*[{\[]')
      AND (
        contains(result, 'rror') OR contains(result, '"exit_code"') OR contains(result, '\u00')
      )
      THEN
        coalesce(tells_failure(try_cast(result AS JSON)), FALSE)
    ELSE FALSE
  END,
  FALSE
);
