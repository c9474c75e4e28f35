-- The calls of each attempt that serve an expectation: those of a decision point that met it.
--
-- Reads:
--   call_points
--   decision_points
-- Columns:
--   attempt_id  INTEGER  The root trajectory.
--   call_index  INTEGER  One row for each attempt_id and call_index.
--   position    INTEGER  The expectation, from 0 in the task file.
-- Order:
--   none
SELECT
  call_points.attempt_id,
  call_points.call_index,
  decision_points.position
FROM call_points
INNER JOIN decision_points
  ON
    call_points.attempt_id = decision_points.attempt_id
    AND call_points.first_call = decision_points.call_index
WHERE decision_points.tool_fits;
