-- The agents of the trace of one trajectory, where more than one worked.
--
-- Reads:
--   agents
--   trajectories
-- Parameters:
--   $trajectory_id  VARCHAR  The trajectory.
--   $date           DATE     The date of its trace, in whose files alone it is looked for.
-- Columns:
--   trajectory_id         VARCHAR
--   agent_span_id         VARCHAR    One row for each of both.
--   has_span              BOOLEAN    It has a span of its own.
--   agent_name            VARCHAR    NULL if it is not named.
--   parent_trajectory_id  VARCHAR    Run of the agent that started it; NULL for an outermost one.
--   parent_agent_span_id  VARCHAR    That agent; NULL as above.
--   tool_call_id          VARCHAR    Call that started it; NULL if none did, or it has no id.
--   start_time            TIMESTAMP  UTC.
--   end_time              TIMESTAMP  NULL without an end.
--   duration_ms           DOUBLE     NULL without an end.
--   step_count            INTEGER
--   step_indexes          INTEGER[]  Its steps in the trajectory.
--   tool_call_count       INTEGER
--   error_count           INTEGER    Calls with status error or not_executed.
--   llm_call_count        INTEGER
--   input_tokens          BIGINT     NULL if no model call records them.
--   output_tokens         BIGINT     Likewise.
--   cost_usd              DOUBLE     NULL if the cost of one call is unknown, or without calls.
--   model_calls           STRUCT(start_time TIMESTAMP, end_time TIMESTAMP)[]  In their order.
-- Order:
--   start_time, trajectory_id, agent_span_id
SELECT
  trajectory_id,
  agent_span_id,
  has_span,
  agent_name,
  parent_trajectory_id,
  parent_agent_span_id,
  tool_call_id,
  start_time,
  end_time,
  duration_ms,
  step_count,
  step_indexes,
  tool_call_count,
  error_count,
  llm_call_count,
  input_tokens,
  output_tokens,
  cost_usd,
  model_calls
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
ORDER BY start_time, trajectory_id, agent_span_id;
