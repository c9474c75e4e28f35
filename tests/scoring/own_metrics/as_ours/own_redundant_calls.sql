-- Calls that repeat an earlier successful call while nothing changed in between, a count.
-- Metric: own_redundant_calls   Version: 1   Range: 0..   Better: less   Kind: count   Unit: calls
-- Reads: attempts, calls
WITH numbered AS (
  SELECT
    *,
    count_if(may_change) OVER (PARTITION BY attempt_id ORDER BY call_index) AS changes
  FROM calls
),

repeats AS (
  SELECT
    later.attempt_id,
    later.call_index
  FROM numbered AS later
  INNER JOIN numbered AS earlier
    ON
      later.attempt_id = earlier.attempt_id
      AND later.tool_name = earlier.tool_name
      AND later.arguments = earlier.arguments
      AND earlier.call_index < later.call_index
      AND later.changes - later.may_change::INTEGER = earlier.changes
      AND (later.result = earlier.result OR later.result IS NULL OR earlier.result IS NULL)
  WHERE NOT earlier.failed AND NOT earlier.content_missing AND NOT later.content_missing
  GROUP BY ALL
)

SELECT
  attempts.attempt_id,
  count(repeats.call_index) AS numerator
FROM attempts
LEFT JOIN repeats USING (attempt_id)
GROUP BY attempts.attempt_id
