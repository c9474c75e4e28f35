-- The places where each attempt chose a tool, or should have: its calls and the expected calls.
--
-- A failed call and the calls that follow up on it are one point; only the first call is judged. A
-- missed expectation comes after the last call that met an earlier one. Source: [Triangle],
-- "Measuring TSA"; docs/metrics.md, sections 1.1 and 1.2.
--
-- Reads:
--   alignment_problems
--   alignments
--   decision_points_of_calls
--   own_expectations
-- Columns:
--   attempt_id      INTEGER  The root trajectory.
--   decision_index  INTEGER  Dense from 0; one row for each attempt_id and decision_index.
--   call_index      INTEGER  The first call; NULL where missed, or where no call was expected.
--   calls           INTEGER  Calls of the point; 0 where none was made.
--   position        INTEGER  The expectation, from 0 in the task file; NULL if there is none.
--   tool_fits       BOOLEAN  The tool is the expected one, an accepted one, or of the effect.
-- Order:
--   attempt_id, decision_index
WITH followed AS (
  SELECT
    attempt_id,
    first_call AS call_index,
    count(*)::INTEGER AS calls
  FROM decision_points_of_calls
  WHERE call_index <> first_call
  GROUP BY attempt_id, first_call
),

points AS (
  SELECT
    problems.attempt_id,
    alignments.decision_index,
    problems.points[alignments.point + 1] AS call_index,
    coalesce(own_expectations.positions[alignments.position + 1], alignments.position)
      AS position,
    alignments.tool_fits
  FROM alignment_problems AS problems
  INNER JOIN alignments USING (expected, complete, free_order, made, pairs)
  LEFT JOIN own_expectations ON problems.attempt_id = own_expectations.attempt_id
)

SELECT
  points.attempt_id,
  points.decision_index,
  points.call_index,
  if(points.call_index IS NULL, 0, 1 + coalesce(followed.calls, 0)) AS calls,
  points.position,
  points.tool_fits
FROM points
LEFT JOIN followed USING (attempt_id, call_index)
ORDER BY points.attempt_id, points.decision_index;
