-- Texts of code agents, each once: a thought, then Python in `<code>` or in fences.
--
-- A fence alone may be an example in an answer. It holds code that was run if it comes after
-- `Code:`, before `<end_code>`, or at the end of a smolagents model's output. Several fences are
-- one program; those of other languages (a shell's, JavaScript's) do not belong to it.
--
-- Reads:
--   bucket_spans
--   dialect_messages
-- Needs:
--   dialect_messages WHERE direction = 'out' AND part_type = 'text' AND (contains(text,
--     '<code>') OR contains(text, '```'))
-- Columns:
--   text     VARCHAR  One row each.
--   thought  VARCHAR  The text before the code.
--   code     VARCHAR  Not empty.
-- Order:
--   none
WITH code_like AS (
  SELECT
    key,
    text
  FROM dialect_messages
  WHERE
    direction = 'out'
    AND part_type = 'text'
    AND (contains(text, '<code>') OR contains(text, '```'))
    AND regexp_matches(text, '<code>\s*\n|```(py|python)?[ \t]*\n')
),

texts AS (
  SELECT
    code_like.text,
    bool_or(
      contains(bucket_spans.scope_name, 'smolagents')
      AND regexp_matches(code_like.text, '```\s*$')
    ) AS ends_in_fence
  FROM code_like
  INNER JOIN bucket_spans USING (key)
  GROUP BY code_like.text
),

parts AS (
  SELECT
    text,
    regexp_extract(
      text,
      '(?s)^\s*(?:Thoughts?:\s*)?(.*?)\s*(?:Code:\s*)?(?:<code>\s*\n|```(?:py|python)?[ \t]*\n)',
      1
    ) AS thought,
    regexp_extract(text, '(?s)<code>\s*\n(.*?)\s*(?:</code>|$)', 1) AS tagged,
    CASE
      WHEN ends_in_fence OR regexp_matches(text, 'Code:\s*```|```\s*<end_code>')
        THEN array_to_string(
          list_transform(
            list_filter(
              list_zip(
                regexp_extract_all(text, '(?s)```([^\s`]*)[ \t]*\n(.*?)\s*```', 1),
                regexp_extract_all(text, '(?s)```([^\s`]*)[ \t]*\n(.*?)\s*```', 2)
              ),
              LAMBDA block: block[1] IN ('', 'py', 'python')
            ),
            LAMBDA block: block[2]
          ),
          chr(10)
        )
    END AS fenced
  FROM texts
)

SELECT
  text,
  thought,
  coalesce(nullif(tagged, ''), fenced) AS code
FROM parts
WHERE tagged <> '' OR fenced <> '';
