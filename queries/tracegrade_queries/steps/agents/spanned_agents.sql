-- Agents with a span, in runs in which more than one agent is named: the root, and those inside.
--
-- Reads:
--   nested_agents
--   operations
--   run_agent_names
--   run_ids
--   runs_of_several_agents
-- Needs:
--   runs_of_several_agents
-- Columns:
--   agent       BIGINT   Key of the agent's span, for the root the run; one row each.
--   run         BIGINT
--   agent_name  VARCHAR  NULL only for a root.
--   start_ns    BIGINT   Start of the span; for a root that never arrived, of its first operation.
-- Order:
--   none
SELECT
  nested_agents.key AS agent,
  nested_agents.run,
  nested_agents.agent_name,
  nested_agents.start_ns
FROM nested_agents
SEMI JOIN runs_of_several_agents USING (run)
UNION ALL
SELECT
  run_ids.run AS agent,
  run_ids.run,
  run_agent_names.agent_name,
  operations.start_ns
FROM run_ids
INNER JOIN runs_of_several_agents USING (run)
INNER JOIN operations ON run_ids.run = operations.key
LEFT JOIN run_agent_names ON run_ids.run = run_agent_names.run;
