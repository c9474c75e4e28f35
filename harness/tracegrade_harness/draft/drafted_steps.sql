-- Steps of the drafted runs and of their sub-agents.
--
-- Reads:
--   attempt_order
--   drafted_runs
--   steps
-- Columns:
--   attempt_id     VARCHAR    The drafted run.
--   trajectory_id  VARCHAR    The step's own.
--   step_index     INTEGER
--   kind           VARCHAR
--   tool_name      VARCHAR
--   arguments      VARCHAR
--   result         VARCHAR
--   content        VARCHAR
--   status         VARCHAR
--   flags          VARCHAR[]
-- Order:
--   attempt_id, calls_before, trajectory_id, step_index
SELECT
  attempt_order.attempt_id,
  steps.trajectory_id,
  steps.step_index,
  steps.kind,
  steps.tool_name,
  steps.arguments,
  steps.result,
  steps.content,
  steps.status,
  steps.flags
FROM attempt_order
INNER JOIN drafted_runs ON attempt_order.attempt_id = drafted_runs.trajectory_id
INNER JOIN steps
  ON
    attempt_order.trajectory_id = steps.trajectory_id
    AND attempt_order.step_index = steps.step_index
ORDER BY
  attempt_order.attempt_id,
  attempt_order.calls_before,
  steps.trajectory_id,
  steps.step_index;
