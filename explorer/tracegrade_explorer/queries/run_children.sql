-- The runs of the sub-agents that a run called as tools, with the calling steps.
--
-- Reads:
--   trajectories
-- Parameters:
--   $trajectory_id  VARCHAR  The run that called.
--   $date           DATE     The date of its trace; only this date's files are read.
-- Columns:
--   trajectory_id  VARCHAR  One row each.
--   parent_step    INTEGER  Index of the step that called it; NULL or -1 if it is none.
--   agent_name     VARCHAR  NULL if none is named.
--   step_count     INTEGER  Steps of every kind.
--   error_count    INTEGER  Tool calls with status error or not_executed.
-- Order:
--   parent_step, trajectory_id
SELECT
  trajectory_id,
  parent_step,
  agent_name,
  step_count,
  error_count
FROM trajectories
WHERE date = $date AND parent_trajectory_id = $trajectory_id
ORDER BY parent_step, trajectory_id;
