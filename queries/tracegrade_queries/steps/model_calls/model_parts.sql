-- Parts of the messages of each model call, from its spans and from the next call.
--
-- A view, as its sources are.
--
-- Reads:
--   recorded_parts
--   recovered_hosted
--   recovered_parts
-- As:
--   view
-- Columns:
--   model_call        BIGINT
--   run               BIGINT
--   start_ns          BIGINT   Start of the model call.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  text | reasoning | code | tool_call | tool_call_response |
--                              server_tool_call | server_tool_call_response.
--   text              VARCHAR  Without outer blanks; NULL if empty.
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR
--   result            VARCHAR
--   failed            BOOLEAN  Responses only: the source states that the call failed.
-- Order:
--   none
SELECT
  model_call,
  run,
  start_ns,
  direction,
  message_position,
  part_position,
  role,
  part_type,
  text,
  tool_name,
  call_id,
  arguments,
  result,
  failed
FROM recorded_parts
UNION ALL
SELECT
  model_call,
  run,
  start_ns,
  direction,
  message_position,
  part_position,
  role,
  part_type,
  text,
  tool_name,
  call_id,
  arguments,
  result,
  failed
FROM recovered_parts
UNION ALL
SELECT
  model_call,
  run,
  start_ns,
  direction,
  message_position,
  part_position,
  role,
  part_type,
  text,
  tool_name,
  call_id,
  arguments,
  result,
  failed
FROM recovered_hosted;
