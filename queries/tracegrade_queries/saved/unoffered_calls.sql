-- Calls of tools that were not offered to the model: hallucinated or no longer registered.
--
-- Reads:
--   steps
--   trajectories
-- Columns:
--   tool_name      VARCHAR
--   release        VARCHAR  NULL if the spans name none.
--   agent_name     VARCHAR
--   model          VARCHAR  Model that requested it.
--   status         VARCHAR  error | not_executed | ok.
--   arguments      VARCHAR  Canonical JSON.
--   trajectory_id  VARCHAR  One row for each trajectory_id and step_index.
--   step_index     INTEGER
-- Order:
--   trajectory_id, step_index
SELECT
  steps.tool_name,
  trajectories.release,
  steps.agent_name,
  steps.model,
  steps.status,
  steps.arguments,
  steps.trajectory_id,
  steps.step_index
FROM steps
INNER JOIN trajectories USING (trajectory_id)
WHERE steps.kind = 'tool_call' AND NOT steps.offered
ORDER BY steps.trajectory_id, steps.step_index;
