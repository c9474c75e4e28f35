-- Steps of the runs to export, those of a run together.
--
-- Reads:
--   steps
-- Parameters:
--   $trace_id  VARCHAR  Only the steps of this trace; NULL for all.
-- Columns:
--   trajectory_id      VARCHAR
--   step_index         INTEGER
--   kind               VARCHAR
--   role               VARCHAR
--   tool_name          VARCHAR    NULL unless a tool was requested.
--   tool_call_id       VARCHAR    NULL if it was not recorded.
--   arguments          VARCHAR    JSON, or the text as sent; NULL if not recorded.
--   content            VARCHAR    Text of a step; for an observation, what the model was given.
--   result             VARCHAR    Result that the tool returned; NULL if it was not captured.
--   plan               VARCHAR    JSON; NULL unless kind is plan.
--   call_step          INTEGER    For an observation, the step_index of its call.
--   status             VARCHAR    Status of a call; else NULL.
--   error_message      VARCHAR    NULL if none was recorded.
--   model              VARCHAR    NULL if no model call did the step.
--   input_tokens       BIGINT     On the first step of a model call only.
--   output_tokens      BIGINT     As input_tokens.
--   cache_read_tokens  BIGINT     As input_tokens.
--   reasoning_tokens   BIGINT     As input_tokens.
--   request_span_id    VARCHAR    Span of the model call; NULL if no model call did the step.
--   time               TIMESTAMP  When the model ended, or the call began; NULL if made up.
-- Order:
--   trajectory_id, step_index
SELECT
  trajectory_id,
  step_index,
  kind,
  role,
  tool_name,
  tool_call_id,
  arguments,
  content,
  result,
  plan,
  call_step,
  status,
  error_message,
  model,
  input_tokens,
  output_tokens,
  cache_read_tokens,
  reasoning_tokens,
  request_span_id,
  CASE
    WHEN list_contains(flags, 'synthetic_time') AND kind <> 'tool_call' THEN NULL
    WHEN kind IN ('tool_call', 'handoff') THEN start_time
    ELSE coalesce(end_time, start_time)
  END AS time  -- noqa: RF04
FROM steps
WHERE $trace_id IS NULL OR trace_id = $trace_id  -- noqa: RF02
ORDER BY trajectory_id, step_index;
