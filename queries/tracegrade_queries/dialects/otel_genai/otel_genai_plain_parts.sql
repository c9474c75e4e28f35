-- Parts of those messages.
--
-- Reads:
--   otel_genai_plain_chat
-- Needs:
--   otel_genai_plain_chat
-- Columns:
--   key               BIGINT   Span.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR
--   text              VARCHAR
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR
--   result            VARCHAR
--   failed            BOOLEAN
-- Order:
--   none
SELECT
  key,
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
FROM chat_parts('otel_genai_plain_chat');
