-- Parts of the messages that the spans of each model call recorded.
--
-- A view, since each reader needs few columns of few parts.
--
-- Reads:
--   message_parts
--   message_sources
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
  message_sources.model_call,
  message_sources.run,
  message_sources.start_ns,
  message_parts.direction,
  message_parts.message_position,
  message_parts.part_position,
  message_parts.role,
  message_parts.part_type,
  message_parts.text,
  message_parts.tool_name,
  message_parts.call_id,
  message_parts.arguments,
  message_parts.result,
  message_parts.failed
FROM message_parts
INNER JOIN message_sources USING (key)
WHERE
  CASE message_parts.direction
    WHEN 'in' THEN message_sources.gives_input ELSE message_sources.gives_output
  END;
