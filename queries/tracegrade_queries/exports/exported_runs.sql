-- Runs to export, those of a trace together.
--
-- Reads:
--   trajectories
-- Parameters:
--   $trace_id  VARCHAR  Only the runs of this trace; NULL for all.
-- Columns:
--   trajectory_id         VARCHAR
--   parent_trajectory_id  VARCHAR    Run that called this one as a tool; NULL without one.
--   parent_step           INTEGER    step_index of that call; NULL or -1 if it is not a step.
--   trace_id              VARCHAR
--   agent_name            VARCHAR    NULL if none is named.
--   release               VARCHAR    NULL if it is not known.
--   model                 VARCHAR    Model of the run, if it used one alone; else NULL.
--   conversation_id       VARCHAR    NULL if not sent.
--   task_id               VARCHAR    NULL if none is declared.
--   task_category         VARCHAR    NULL if none is declared.
--   trial                 INTEGER    NULL if it is not declared.
--   outcome               VARCHAR    success | failure | invalid; NULL if it is not declared.
--   user_input            VARCHAR    NULL if it was not recorded.
--   offered_tools         VARCHAR    JSON list of {name, description, parameters}; may be NULL.
--   input_tokens          BIGINT     NULL if no call records them.
--   output_tokens         BIGINT     NULL if no call records them.
--   cost_usd              DOUBLE     NULL if it is not known.
--   start_time            TIMESTAMP  UTC.
-- Order:
--   trajectory_id
SELECT
  trajectory_id,
  parent_trajectory_id,
  parent_step,
  trace_id,
  agent_name,
  release,
  CASE WHEN len(model_usage) = 1 THEN model_usage[1].model END AS model,
  conversation_id,
  task_id,
  task_category,
  trial,
  outcome,
  user_input,
  offered_tools,
  input_tokens,
  output_tokens,
  cost_usd,
  start_time
FROM trajectories
WHERE $trace_id IS NULL OR trace_id = $trace_id  -- noqa: RF02
ORDER BY trajectory_id;
