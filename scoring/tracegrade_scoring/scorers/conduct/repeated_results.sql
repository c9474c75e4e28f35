-- Results of an attempt's repeated calls that differ as text and may be equal as JSON.
--
-- Source: docs/metrics.md, section 0.5.
--
-- Reads:
--   calls
-- Needs:
--   calls
-- Columns:
--   result  VARCHAR  JSON; one row each.
-- Order:
--   result
WITH sets AS (
  SELECT
    attempt_id,
    hash(tool_name, arguments) AS text_hash
  FROM calls
  WHERE
    NOT content_missing
    AND NOT result_missing
    AND tool_name IS NOT NULL
  GROUP BY ALL
  HAVING min(hash(result)) <> max(hash(result))
)

SELECT DISTINCT calls.result
FROM calls
INNER JOIN sets
  ON
    calls.attempt_id = sets.attempt_id
    AND hash(calls.tool_name, calls.arguments) = sets.text_hash
WHERE NOT calls.result_missing AND json_valid(calls.result)
ORDER BY calls.result;
