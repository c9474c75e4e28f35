-- OpenAI's Agents SDK: message parts that only the raw output holds.
--
-- With Chat Completions the output is a message as it was sent, otherwise the response that a
-- stream became. Only this output holds reasoning; for a stream, it is the only source.
--
-- Reads:
--   bucket_spans
--   openinference_turns
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW openinference_openai_agents AS
WITH raw_outputs AS (
  SELECT
    key,
    try_cast(attributes['output.value'] AS JSON) -> '$[0]' AS output
  FROM bucket_spans
  WHERE
    scope_name = 'openinference.instrumentation.openai_agents'
    AND attributes['openinference.span.kind'] = 'LLM'
    AND starts_with(attributes['output.value'], '[')
),

raw_items AS (
  SELECT
    raw_outputs.key,
    unnest(from_json(raw_outputs.output -> '$.output', '["JSON"]')) AS item,
    generate_subscripts(from_json(raw_outputs.output -> '$.output', '["JSON"]'), 1) AS position
  FROM raw_outputs
  ANTI JOIN openinference_turns AS messages
    ON raw_outputs.key = messages.key AND messages.direction = 'out'
)

SELECT
  key,
  'out' AS direction,
  0 AS message_position,
  -1 AS part_position,
  'assistant' AS role,
  'reasoning' AS part_type,
  output ->> '$.reasoning_content' AS text
FROM raw_outputs
WHERE json_type(output, '$.reasoning_content') = 'VARCHAR'
UNION ALL BY NAME
SELECT
  key,
  'out' AS direction,
  0 AS message_position,
  position AS part_position,
  'assistant' AS role,
  CASE item ->> '$.type'
    WHEN 'message' THEN 'text'
    WHEN 'function_call' THEN 'tool_call'
    ELSE item ->> '$.type'
  END AS part_type,
  array_to_string(
    (item ->> '$.summary[*].text') || (item ->> '$.content[*].text'), chr(10)
  ) AS text,
  item ->> '$.name' AS tool_name,
  item ->> '$.call_id' AS call_id,
  item ->> '$.arguments' AS arguments
FROM raw_items;
