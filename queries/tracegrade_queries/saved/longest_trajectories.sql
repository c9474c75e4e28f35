-- The trajectories with the most steps.
--
-- Reads:
--   trajectories
-- Parameters:
--   $rows  INTEGER  Number of trajectories to return.
-- Columns:
--   trajectory_id    VARCHAR  One row each.
--   agent_name       VARCHAR  NULL if none is named.
--   release          VARCHAR  NULL if not sent.
--   task_id          VARCHAR  NULL if no span names one.
--   step_count       INTEGER
--   tool_call_count  INTEGER
--   error_count      INTEGER  Calls whose status is error or not_executed.
--   tokens           BIGINT   Input and output tokens; NULL if none were recorded.
--   secs             DOUBLE   From its start to its end; NULL if an import made its times up.
--   user_input       VARCHAR  Its first 80 characters; NULL if not captured.
-- Order:
--   step_count DESC, trajectory_id
SELECT
  trajectory_id,
  agent_name,
  release,
  task_id,
  step_count,
  tool_call_count,
  error_count,
  CASE
    WHEN input_tokens IS NOT NULL OR output_tokens IS NOT NULL
      THEN coalesce(input_tokens, 0) + coalesce(output_tokens, 0)
  END AS tokens,
  -- Times that an import makes up begin with the year 2000.
  CASE WHEN start_time >= '2001-01-01' THEN duration_ms / 1000 END AS secs,
  left(user_input, 80) AS user_input
FROM trajectories
QUALIFY row_number() OVER (ORDER BY step_count DESC, trajectory_id ASC) <= $rows::INTEGER
ORDER BY step_count DESC, trajectory_id ASC;
