-- Tools that the model's provider ran itself, as inputs repeat them; outputs are read as sent.
--
-- Reads:
--   otel_genai_history
--   otel_genai_lists
--   otel_genai_messages_read
-- Needs:
--   otel_genai_messages_read WHERE direction = 'in' AND hold_hosted(messages)
-- Columns:
--   key               BIGINT   First span that contains it.
--   direction         VARCHAR  in.
--   message_position  BIGINT   Position in the list, or among its new messages.
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  server_tool_call | server_tool_call_response.
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR
--   result            VARCHAR
--   failed            BOOLEAN
-- Order:
--   none
WITH lists AS (
  SELECT
    messages_read.key,
    cast(coalesce(history.rest, sent.messages) AS JSON[]) AS messages
  FROM otel_genai_messages_read AS messages_read
  INNER JOIN otel_genai_lists AS sent
    ON messages_read.key = sent.key AND messages_read.direction = sent.direction
  LEFT JOIN otel_genai_history AS history ON messages_read.key = history.key
  WHERE messages_read.direction = 'in' AND hold_hosted(messages_read.messages)
),

messages AS (
  SELECT
    key,
    generate_subscripts(messages, 1) AS message_position,
    unnest(messages) AS message
  FROM lists
),

input_parts AS (
  SELECT
    key,
    message_position,
    message ->> '$.role' AS role,
    generate_subscripts(cast(message -> '$.parts' AS JSON[]), 1) AS part_position,
    unnest(cast(message -> '$.parts' AS JSON[])) AS part
  FROM messages
  WHERE json_type(message, '$.parts') = 'ARRAY'
),

blocks AS (
  SELECT
    * EXCLUDE (part),
    genai_block(part) AS block
  FROM input_parts
),

parts AS (
  SELECT
    * EXCLUDE (block),
    hosted_part(block) AS part
  FROM blocks
  WHERE is_hosted(block)
)

SELECT
  key,
  'in' AS direction,
  message_position,
  part_position,
  role,
  part.part_type,
  part.tool_name,
  part.call_id,
  part.arguments,
  result_text(part.result) AS result,
  part.failed
FROM parts
WHERE part.part_type IS NOT NULL;
