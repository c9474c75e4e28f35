-- How many values in the arguments, results and texts of steps were redacted, by rule.
--
-- An agent or a collector wrote a mark with the name of the rule in the place of each. What an
-- agent observed is a call's result, which is counted there.
-- The rules: docs/reference/redaction-rules.md.
--
-- Reads:
--   steps
-- Columns:
--   rule    VARCHAR  named, api_key, card and so on; one row each.
--   values  BIGINT   Marks of the rule.
-- Order:
--   rule
WITH marks AS (
  SELECT
    unnest(
      regexp_extract_all(
        concat_ws(' ', arguments, result, if(kind = 'observation', NULL, content)),
        '\[redacted:([a-z_]+)', 1
      )
    ) AS rule
  FROM steps
  WHERE list_has_any(flags, ['redacted', 'result_redacted'])
)

SELECT
  rule,
  count(*) AS values
FROM marks
GROUP BY rule
ORDER BY rule;
