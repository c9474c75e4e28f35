-- The tool calls of the agents of a run's trace, where more than one worked.
--
-- Reads:
--   agents
--   steps
--   trajectories
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $date           DATE     The date of its trace, in whose files alone it is looked for.
-- Columns:
--   trajectory_id  VARCHAR    Run of the agent that made it.
--   agent_span_id  VARCHAR    That agent.
--   step_index     INTEGER    One row for each call.
--   tool_name      VARCHAR    NULL if not recorded.
--   failed         BOOLEAN    Its status is error or not_executed.
--   start_time     TIMESTAMP  UTC.
--   end_time       TIMESTAMP  NULL without an end.
-- Order:
--   trajectory_id, step_index
WITH agent_steps AS (
  SELECT
    trajectory_id,
    agent_span_id,
    unnest(step_indexes) AS step_index
  FROM agents
  WHERE
    date = $date
    AND trace_id IN (
      SELECT trajectories.trace_id
      FROM trajectories
      WHERE
        trajectories.date = $date  -- noqa: RF02
        AND trajectories.trajectory_id = $trajectory_id  -- noqa: RF02
    )
)

SELECT
  agent_steps.trajectory_id,
  agent_steps.agent_span_id,
  agent_steps.step_index,
  steps.tool_name,
  steps.status IN ('error', 'not_executed') AS failed,
  steps.start_time,
  steps.end_time
FROM agent_steps
INNER JOIN steps
  ON
    agent_steps.trajectory_id = steps.trajectory_id
    AND agent_steps.step_index = steps.step_index
WHERE
  steps.date = $date  -- noqa: RF02
  AND steps.kind = 'tool_call'
  AND steps.start_time IS NOT NULL
ORDER BY agent_steps.trajectory_id, agent_steps.step_index;
