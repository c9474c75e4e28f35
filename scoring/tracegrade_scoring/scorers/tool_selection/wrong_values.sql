-- Objects and lists that were sent where others were expected, each pair once.
--
-- Source: docs/metrics.md, section 1.3.
--
-- Reads:
--   decision_points
--   calls_fitting_expected
-- Needs:
--   calls_fitting_expected WHERE NOT arguments_fit
-- Columns:
--   sent      VARCHAR  JSON of an object or list; one row for each of the two.
--   expected  VARCHAR  As sent.
-- Order:
--   none
WITH differences AS (
  SELECT unnest(calls_fitting_expected.differences) AS difference
  FROM calls_fitting_expected
  SEMI JOIN decision_points USING (attempt_id, call_index, position)
  WHERE NOT calls_fitting_expected.arguments_fit
)

SELECT DISTINCT
  difference.sent,
  difference.expected
FROM differences
WHERE
  difference.is_value
  AND regexp_matches(difference.sent, '^[{\[]')
  AND regexp_matches(difference.expected, '^[{\[]');
