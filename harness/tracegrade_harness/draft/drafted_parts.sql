-- Messages to models and their answers, part by part and as they were sent.
--
-- Unlike message_parts, this splits no texts, because tapes return them whole.
--
-- Reads:
--   dialect_messages
--   message_dialects
--   message_sources
-- Columns:
--   model_call  BIGINT
--   direction   VARCHAR  in | out.
--   role        VARCHAR  As sent; NULL if it was not.
--   part_type   VARCHAR  text | reasoning | tool_call | tool_call_response, or another, unread.
--   text        VARCHAR
--   tool_name   VARCHAR
--   call_id     VARCHAR  NULL if empty.
--   arguments   VARCHAR
--   result      VARCHAR
-- Order:
--   model_call, direction, message_position, part_position
SELECT
  message_sources.model_call,
  dialect_messages.direction,
  dialect_messages.role,
  dialect_messages.part_type,
  dialect_messages.text,
  dialect_messages.tool_name,
  nullif(dialect_messages.call_id, '') AS call_id,
  dialect_messages.arguments,
  dialect_messages.result
FROM dialect_messages
INNER JOIN message_dialects USING (key, direction, precedence)
INNER JOIN message_sources USING (key)
WHERE
  CASE dialect_messages.direction
    WHEN 'in' THEN message_sources.gives_input ELSE message_sources.gives_output
  END
ORDER BY
  message_sources.model_call,
  dialect_messages.direction,
  dialect_messages.message_position,
  dialect_messages.part_position;
