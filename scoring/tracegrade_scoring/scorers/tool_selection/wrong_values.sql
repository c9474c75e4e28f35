-- Objects and lists that were sent where others were expected, each pair once.
--
-- Source: docs/metrics.md, section 1.3.
--
-- Reads:
--   decision_points
--   fitting_pairs
-- Needs:
--   fitting_pairs WHERE NOT arguments_fit
-- Columns:
--   sent      VARCHAR  JSON of an object or list; one row for each of the two.
--   expected  VARCHAR  Likewise.
-- Order:
--   none
WITH differences AS (
  SELECT unnest(fitting_pairs.differences) AS difference
  FROM fitting_pairs
  SEMI JOIN decision_points USING (attempt_id, call_index, position)
  WHERE NOT fitting_pairs.arguments_fit
)

SELECT DISTINCT
  difference.sent,
  difference.expected
FROM differences
WHERE
  difference.is_value
  AND regexp_matches(difference.sent, '^[{\[]')
  AND regexp_matches(difference.expected, '^[{\[]');
