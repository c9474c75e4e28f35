-- The runs of the chosen traces that are nobody's sub-agents.
--
-- Reads:
--   built_trajectories
-- Columns:
--   trace_id       VARCHAR
--   trajectory_id  VARCHAR  One row each.
--   task_id        VARCHAR  NULL if the trace names none.
--   trial          INTEGER  NULL if the trace names none.
-- Order:
--   trajectory_id
SELECT
  trace_id,
  trajectory_id,
  task_id,
  trial
FROM built_trajectories
WHERE parent_trajectory_id IS NULL AND injection IS NULL
ORDER BY trajectory_id;
