-- Hand-offs, and calls that started the run of a sub-agent, that count as tool calls.
--
-- The task of their attempt expects them, by their name or by the name of the agent, which an
-- argument may hold. Or the task file declares the tool to be called. A tool that the task file
-- declares to be a hand-off does not count. Source: docs/metrics.md, section 0.8.
--
-- Reads:
--   attempt_members
--   attempt_tasks
--   declared_steps
--   task_expected
--   task_tools
--   trajectories
-- Needs:
--   task_expected or task_tools WHERE kind = 'tool_call'
--   declared_steps WHERE kind = 'handoff' or trajectories WHERE parent_step IS NOT NULL
-- Columns:
--   trajectory_id  INTEGER  Trajectory of the step.
--   step_index     INTEGER  One row for each trajectory_id and step_index.
--   tool_name      VARCHAR  As the task expects it, else as recorded.
-- Order:
--   none
WITH expected AS (
  SELECT DISTINCT
    task_id,
    unnest(list_prepend(tool_name, accept)) AS tool_name
  FROM task_expected
),

named AS (
  SELECT
    expected.task_id,
    expected.tool_name,
    named_agent(expected.tool_name) AS agent
  FROM expected
  LEFT JOIN task_tools USING (tool_name)
  WHERE expected.tool_name IS NOT NULL AND coalesce(task_tools.kind, 'tool_call') = 'tool_call'
),

started AS (
  SELECT DISTINCT
    parent_trajectory_id AS trajectory_id,
    parent_step AS step_index
  FROM trajectories
  WHERE parent_step IS NOT NULL
),

made AS (
  SELECT
    attempt_tasks.task_id,
    declared_steps.trajectory_id,
    declared_steps.step_index,
    declared_steps.tool_name,
    coalesce(task_tools.kind = 'tool_call', FALSE) AS is_declared,
    [
      named_agent(declared_steps.tool_name),
      named_agent(try_cast(declared_steps.arguments AS JSON) ->> '$.agent_name'),
      named_agent(try_cast(declared_steps.arguments AS JSON) ->> '$.to_agent')
    ] AS agents
  FROM declared_steps
  INNER JOIN attempt_members USING (trajectory_id)
  INNER JOIN attempt_tasks USING (attempt_id)
  LEFT JOIN started USING (trajectory_id, step_index)
  LEFT JOIN task_tools USING (tool_name)
  WHERE
    coalesce(task_tools.kind, 'tool_call') = 'tool_call'
    AND (
      declared_steps.kind = 'handoff'
      OR (declared_steps.kind = 'tool_call' AND started.trajectory_id IS NOT NULL)
    )
)

SELECT
  made.trajectory_id,
  made.step_index,
  coalesce(
    arg_min(named.tool_name, (named.tool_name <> made.tool_name, named.tool_name)),
    any_value(made.tool_name)
  ) AS tool_name
FROM made
LEFT JOIN named
  ON
    made.task_id = named.task_id
    AND (made.tool_name = named.tool_name OR list_contains(made.agents, named.agent))
WHERE made.is_declared OR named.tool_name IS NOT NULL
GROUP BY made.trajectory_id, made.step_index;
