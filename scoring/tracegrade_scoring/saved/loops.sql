-- Trajectories that went round in circles, with the call that shows it.
--
-- Reads:
--   failures
--   steps
-- Columns:
--   trajectory_id  VARCHAR  One row for each trajectory with a loop trap.
--   task_id        VARCHAR  NULL if no task is known.
--   release        VARCHAR  NULL if not sent.
--   success        BOOLEAN  NULL if not known.
--   step_index     INTEGER  The third occurrence, in step_trajectory_id.
--   tool_name      VARCHAR
--   arguments      VARCHAR  Canonical JSON.
--   result         VARCHAR  NULL if nothing was captured.
--   detail         VARCHAR  What goes round.
-- Order:
--   trajectory_id
SELECT
  failures.trajectory_id,
  failures.task_id,
  failures.release,
  failures.success,
  failures.step_index,
  steps.tool_name,
  steps.arguments,
  steps.result,
  failures.detail
FROM failures
LEFT JOIN steps
  ON
    failures.step_trajectory_id = steps.trajectory_id
    AND failures.step_index = steps.step_index
WHERE failures.mode = 'loop_trap'
ORDER BY failures.trajectory_id;
