-- The agent that started each agent, and the call that did so.
--
-- An agent inside a run was started by the agent that handed over to it, else by the nearest agent
-- above, else by the agent of the root. A parent never starts after its child, so that agents of
-- one run are a tree even if clocks differ.
--
-- Reads:
--   agent_handovers
--   agent_rows
--   built_steps
--   built_trajectories
--   known_parents
--   nested_agent_ends
--   run_ids
--   step_agents
-- Needs:
--   agent_rows
-- Columns:
--   agent                 BIGINT   One row each; the agent of an outermost run has none.
--   parent                BIGINT   Agent that started it.
--   parent_trajectory_id  VARCHAR  That agent's run.
--   tool_call_id          VARCHAR  Call that started it; NULL if none did, or it has no id.
-- Order:
--   none
WITH called AS (
  SELECT
    agent_rows.agent,
    trajectories.parent_trajectory_id,
    calling.run AS calling_run,
    trajectories.parent_step
  FROM agent_rows
  INNER JOIN built_trajectories AS trajectories USING (trajectory_id)
  INNER JOIN run_ids AS calling ON trajectories.parent_trajectory_id = calling.trajectory_id
  WHERE agent_rows.is_root
),

above AS (
  SELECT
    agent_rows.agent,
    coalesce(nested_agent_ends.last, known_parents.parent) AS parent
  FROM agent_rows
  INNER JOIN known_parents ON agent_rows.agent = known_parents.key
  LEFT JOIN nested_agent_ends ON known_parents.parent = nested_agent_ends.key
  WHERE NOT agent_rows.is_root
),

inside AS (
  SELECT
    agent_rows.agent,
    coalesce(agent_handovers.handing, above_rows.agent, agent_rows.run) AS parent,
    agent_rows.trajectory_id AS parent_trajectory_id,
    agent_handovers.tool_call_id
  FROM agent_rows
  LEFT JOIN agent_handovers USING (agent)
  LEFT JOIN above ON agent_rows.agent = above.agent
  LEFT JOIN agent_rows AS above_rows
    ON
      above.parent = above_rows.agent
      AND agent_rows.run = above_rows.run
      AND agent_rows.start_ns >= above_rows.start_ns
  WHERE NOT agent_rows.is_root
)

SELECT * FROM inside
UNION ALL BY NAME
SELECT
  called.agent,
  coalesce(step_agents.agent, called.calling_run) AS parent,
  called.parent_trajectory_id,
  built_steps.tool_call_id
FROM called
LEFT JOIN step_agents
  ON called.calling_run = step_agents.run AND called.parent_step = step_agents.step_index
LEFT JOIN built_steps
  ON
    called.parent_trajectory_id = built_steps.trajectory_id
    AND called.parent_step = built_steps.step_index;
