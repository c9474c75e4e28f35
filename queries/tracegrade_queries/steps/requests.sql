-- Tool calls as the models requested them.
--
-- Reads:
--   model_parts
-- Columns:
--   request           BIGINT   Number, one row each.
--   trajectory_id     VARCHAR
--   model_call        BIGINT
--   start_ns          BIGINT   Start of the model call.
--   message_position  BIGINT
--   part_position     BIGINT
--   tool_name         VARCHAR  '' if not sent.
--   call_id           VARCHAR
--   arguments         VARCHAR  Canonical JSON, else as sent.
--   parsed            BOOLEAN
-- Order:
--   none
SELECT
  row_number() OVER (ORDER BY model_call, message_position, part_position) AS request,
  trajectory_id,
  model_call,
  start_ns,
  message_position,
  part_position,
  coalesce(tool_name, '') AS tool_name,
  call_id,
  arguments,
  parsed
FROM model_parts
WHERE direction = 'out' AND part_type = 'tool_call';
