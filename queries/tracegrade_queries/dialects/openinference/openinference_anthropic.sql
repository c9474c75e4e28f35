-- Anthropic's client: results that its messages leave out.
--
-- Before 0.1.20, only the last of several results in one message was written.
--
-- Reads:
--   bucket_spans
--   openinference_turns
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW openinference_anthropic AS
WITH raw_messages AS (
  SELECT
    key,
    unnest(from_json(try_cast(attributes['input.value'] AS JSON) -> '$.messages', '["JSON"]'))
      AS message,
    generate_subscripts(
      from_json(try_cast(attributes['input.value'] AS JSON) -> '$.messages', '["JSON"]'), 1
    ) - 1 AS message_position
  FROM bucket_spans
  WHERE
    scope_name = 'openinference.instrumentation.anthropic'
    AND attributes['openinference.span.kind'] = 'LLM'
    AND contains(attributes['input.value'], '"tool_result"')
),

raw_blocks AS (
  SELECT
    key,
    message_position,
    unnest(from_json(message -> '$.content', '["JSON"]')) AS block,
    generate_subscripts(from_json(message -> '$.content', '["JSON"]'), 1) AS part_position
  FROM raw_messages
  WHERE message ->> '$.role' = 'user' AND json_type(message, '$.content') = 'ARRAY'
),

raw_results AS (
  SELECT
    raw_blocks.key,
    raw_blocks.message_position,
    raw_blocks.part_position - position_gap() AS part_position,
    block_part(raw_blocks.block) AS part
  FROM raw_blocks
  ANTI JOIN openinference_turns AS messages
    ON
      raw_blocks.key = messages.key
      AND raw_blocks.block ->> '$.tool_use_id' = messages.call_id
  WHERE raw_blocks.block ->> '$.type' = 'tool_result'
)

SELECT
  key,
  'in' AS direction,
  message_position,
  part_position,
  'tool' AS role,
  part.part_type,
  part.call_id,
  result_text(part.result) AS result,
  part.failed
FROM raw_results;
