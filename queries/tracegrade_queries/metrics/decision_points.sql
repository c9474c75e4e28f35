-- The places where each attempt chose a tool; failed calls and what follows up on them are one.
--
-- Only the first call of a point is judged. Source: Triangle, "Measuring TSA"; metrics.md,
-- section 1.
--
-- Reads:
--   call_points
-- Columns:
--   attempt_id   INTEGER  The root trajectory.
--   point_index  INTEGER  Dense from 0 by first call; one row for each attempt_id and point_index.
--   call_index   INTEGER  The first call.
--   calls        INTEGER  Calls of the point; at least 1.
-- Order:
--   attempt_id, point_index
WITH points AS (
  SELECT
    attempt_id,
    first_call AS call_index,
    count(*)::INTEGER AS calls
  FROM call_points
  GROUP BY attempt_id, first_call
)

SELECT
  attempt_id,
  (row_number() OVER (PARTITION BY attempt_id ORDER BY call_index) - 1)::INTEGER AS point_index,
  call_index,
  calls
FROM points
ORDER BY attempt_id, point_index;
