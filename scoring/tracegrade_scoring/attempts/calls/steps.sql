-- The steps of a bucket as metrics read them: a hand-off that its task expects is a call.
--
-- The step has the name that the task expects. Source: docs/metrics.md, section 0.8.
--
-- Reads:
--   called_agents
-- Takes:
--   declared_steps
-- Needs:
--   called_agents
-- Order:
--   none
UPDATE steps SET
  kind = 'tool_call',
  tool_name = called_agents.tool_name,
  status = coalesce(steps.status, 'unknown')
FROM called_agents
WHERE
  steps.trajectory_id = called_agents.trajectory_id
  AND steps.step_index = called_agents.step_index;
