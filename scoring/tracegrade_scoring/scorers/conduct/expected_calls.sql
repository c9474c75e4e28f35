-- The calls of each attempt that serve an expectation: those of a decision point that met it.
--
-- Reads:
--   decision_points_of_calls
--   decision_points
-- Columns:
--   attempt_id  INTEGER  The root trajectory.
--   call_index  INTEGER  One row for each attempt_id and call_index.
--   position    INTEGER  The expectation, from 0 in the task file.
-- Order:
--   none
SELECT
  decision_points_of_calls.attempt_id,
  decision_points_of_calls.call_index,
  decision_points.position
FROM decision_points_of_calls
INNER JOIN decision_points
  ON
    decision_points_of_calls.attempt_id = decision_points.attempt_id
    AND decision_points_of_calls.first_call = decision_points.call_index
WHERE decision_points.tool_fits;
