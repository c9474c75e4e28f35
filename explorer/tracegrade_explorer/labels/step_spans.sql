-- The span of one step of a run.
--
-- Reads:
--   steps
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $date           DATE     Date its trace was first received, UTC.
--   $step_index     INTEGER  The step.
-- Columns:
--   step_trajectory_id  VARCHAR  The run; at most one row.
--   step_index          INTEGER  The given index.
--   span_id             VARCHAR  Span that executed it, else the span that requested it.
-- Order:
--   none
SELECT
  trajectory_id AS step_trajectory_id,
  step_index,
  span_id
FROM steps
WHERE date = $date AND trajectory_id = $trajectory_id AND step_index = $step_index;
