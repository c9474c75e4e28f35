-- The calls of each attempt that serve an expectation: those of a decision point that met it.
--
-- Reads:
--   call_points
--   decision_points
--   expectation_matches
--   expectation_pairs
-- Columns:
--   attempt_id  INTEGER  The root trajectory.
--   call_index  INTEGER  One row for each attempt_id and call_index.
--   position    INTEGER  The expectation, from 0 in the task file.
-- Order:
--   none
WITH met_points AS (
  SELECT
    expectation_matches.attempt_id,
    expectation_matches.position,
    decision_points.call_index AS first_call
  FROM expectation_matches
  INNER JOIN expectation_pairs USING (attempt_id, point_index, position)
  INNER JOIN decision_points USING (attempt_id, point_index)
  WHERE expectation_pairs.tool_fits
)

SELECT
  attempt_id,
  call_points.call_index,
  met_points.position
FROM call_points
INNER JOIN met_points USING (attempt_id, first_call);
