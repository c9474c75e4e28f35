-- Redacted values in the arguments, results and texts of steps, counted by rule.
--
-- An agent or a collector put a mark with the name of the rule in place of each value. An
-- observation of an agent is a call's result, which is counted there. The rules:
-- docs/reference/redaction-rules.md.
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
