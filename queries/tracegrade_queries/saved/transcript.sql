-- One trajectory as a readable transcript.
--
-- Reads:
--   steps
-- Parameters:
--   $trajectory  VARCHAR  Its trajectory_id, or a prefix of it.
-- Columns:
--   step_index  INTEGER    One row each, if one trajectory fits.
--   start_time  TIMESTAMP  UTC.
--   kind        VARCHAR
--   agent_name  VARCHAR
--   said        VARCHAR    Text, plan, or tool with arguments.
--   status      VARCHAR    Status of a tool call; else NULL.
--   ms          DOUBLE     Duration of a tool call; else NULL.
-- Order:
--   trajectory_id, step_index
SELECT
  step_index,
  start_time,
  kind,
  agent_name,
  CASE
    WHEN kind IN ('tool_call', 'handoff') THEN concat_ws(' ', tool_name, arguments)
    ELSE coalesce(content, plan)
  END AS said,
  status,
  CASE WHEN kind = 'tool_call' THEN duration_ms END AS ms
FROM steps
WHERE starts_with(trajectory_id, $trajectory)
ORDER BY trajectory_id, step_index;
