-- The last call of each attempt that its task can have needed: what follows came too late.
--
-- It is a write, or serves a sub-goal, or belongs to a decision point that met an expectation.
-- Source: metrics.md, section 3 (`termination`: late).
--
-- Reads:
--   call_points
--   calls
--   decision_points
--   expectation_matches
--   expectation_pairs
-- Columns:
--   attempt_id  VARCHAR  One row for each attempt with such a call.
--   call_index  INTEGER  The call.
-- Order:
--   none
WITH met_points AS (
  SELECT
    expectation_matches.attempt_id,
    decision_points.call_index AS first_call
  FROM expectation_matches
  INNER JOIN expectation_pairs USING (attempt_id, point_index, position)
  INNER JOIN decision_points USING (attempt_id, point_index)
  WHERE expectation_pairs.tool_fits
),

needed AS (
  SELECT
    attempt_id,
    call_index
  FROM calls
  WHERE effect IN ('write', 'destructive')
  UNION ALL
  SELECT
    attempt_id,
    call_index
  FROM call_points
  WHERE sub_goal IS NOT NULL
  UNION ALL
  SELECT
    attempt_id,
    call_points.call_index
  FROM call_points
  INNER JOIN met_points USING (attempt_id, first_call)
)

SELECT
  attempt_id,
  max(call_index) AS call_index
FROM needed
GROUP BY attempt_id;
