-- The agent of each model call, in runs in which more than one agent is named.
--
-- If several spans record a call, one may be outside the agent's span; the one inside counts.
--
-- Reads:
--   model_members
--   operation_agents
--   operations
-- Needs:
--   operation_agents
-- Columns:
--   model_call  BIGINT  One row each.
--   agent       BIGINT  As in operation_agents.
--   run         BIGINT  Run of that agent; steps of the call can be in another.
-- Order:
--   none
SELECT
  model_members.model_call,
  coalesce(
    arg_min(operation_agents.agent, (operations.start_ns, operations.key)) FILTER (
      WHERE operation_agents.agent <> operation_agents.run
    ),
    any_value(operation_agents.run)
  ) AS agent,
  coalesce(
    arg_min(operation_agents.run, (operations.start_ns, operations.key)) FILTER (
      WHERE operation_agents.agent <> operation_agents.run
    ),
    any_value(operation_agents.run)
  ) AS run
FROM model_members
INNER JOIN operation_agents USING (key)
INNER JOIN operations USING (key)
GROUP BY model_members.model_call;
