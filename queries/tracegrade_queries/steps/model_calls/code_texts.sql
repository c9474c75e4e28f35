-- Texts of code agents, each once: a thought, then Python in `<code>` or fenced with `<end_code>`.
--
-- Reads:
--   dialect_messages
-- Columns:
--   text     VARCHAR  One row each.
--   thought  VARCHAR  What stands before the code.
--   code     VARCHAR
-- Order:
--   none
WITH texts AS (
  SELECT DISTINCT
    text,
    regexp_extract(
      text,
      '(?s)^\s*(?:Thoughts?:\s*)?(.*?)\s*(?:Code:\s*)?'
      '(?:<code>\s*\n(.*?)\s*(?:</code>|$)|```(?:py|python)?\s*\n(.*?)\s*```\s*<end_code>)',
      ['thought', 'tagged', 'fenced']
    ) AS part
  FROM dialect_messages
  WHERE
    direction = 'out'
    AND part_type = 'text'
    AND regexp_matches(text, '<code>\s*\n|```\s*<end_code>')
)

SELECT
  text,
  part.thought,
  coalesce(nullif(part.tagged, ''), part.fenced) AS code
FROM texts
WHERE part.tagged <> '' OR part.fenced <> '';
