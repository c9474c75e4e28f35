-- OpenTelemetry GenAI conventions before 1.37: each message is an event of its own.
--
-- Log records hold it in their body (openai-v2, agent-framework, Google ADK), span events in
-- attributes (Strands, where it is a list of Bedrock's content blocks).
--
-- Reads:
--   bucket_events
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE otel_events_messages AS
WITH told AS (
  SELECT
    key,
    position,
    CASE WHEN name = 'gen_ai.choice' THEN 'out' ELSE 'in' END AS direction,
    CASE name
      WHEN 'gen_ai.choice' THEN 'assistant'
      ELSE regexp_extract(name, 'gen_ai\.(\w+)\.message', 1)
    END AS role,
    try_cast(body AS JSON) AS body,
    attributes
  FROM bucket_events
  WHERE
    name IN (
      'gen_ai.system.message', 'gen_ai.user.message', 'gen_ai.assistant.message',
      'gen_ai.tool.message', 'gen_ai.choice'
    )
),

messages AS (
  SELECT
    key,
    position,
    direction,
    role,
    -- Of a choice the message, which is an object or (in attributes) its content.
    coalesce(body -> '$.message', body) AS message,
    coalesce(
      body -> '$.message.content',
      body -> '$.content',
      try_cast(coalesce(attributes['content'], attributes['message']) AS JSON),
      to_json(coalesce(attributes['content'], attributes['message']))
    ) AS content,
    coalesce(
      body -> '$.message.tool_calls', body -> '$.tool_calls',
      try_cast(attributes['tool_calls'] AS JSON)
    ) AS tool_calls,
    coalesce(body ->> '$.id', attributes['id']) AS call_id
  FROM told
),

blocks AS (
  SELECT
    * EXCLUDE (content),
    unnest(content::JSON[]) AS block,
    generate_subscripts(content::JSON[], 1) AS part_position
  FROM messages
  WHERE json_type(content) = 'ARRAY' AND role <> 'tool'
),

parts AS (
  SELECT
    key,
    position,
    direction,
    role,
    part_position,
    block_part(block) AS part
  FROM blocks
  UNION ALL BY NAME
  SELECT
    key,
    position,
    direction,
    role,
    0 AS part_position,
    { 'part_type': 'text', 'text': content ->> '$' } AS part
  FROM messages
  WHERE role <> 'tool' AND json_type(content) = 'VARCHAR'
  UNION ALL BY NAME
  SELECT
    key,
    position,
    direction,
    role,
    0 AS part_position,
    { 'part_type': 'tool_call_response', 'call_id': call_id, 'result': content ->> '$' } AS part
  FROM messages
  WHERE role = 'tool' AND content IS NOT NULL
),

requests AS (
  SELECT
    key,
    position,
    direction,
    role,
    unnest(tool_calls::JSON[]) AS request,
    1_000 + generate_subscripts(tool_calls::JSON[], 1) AS part_position
  FROM messages
  WHERE json_type(tool_calls) = 'ARRAY'
)

SELECT
  key,
  direction,
  position AS message_position,
  part_position,
  role,
  part.part_type,
  part.text,
  part.tool_name,
  part.call_id,
  part.arguments,
  result_text(part.result) AS result
FROM parts
WHERE part.part_type IS NOT NULL
UNION ALL BY NAME
SELECT
  key,
  direction,
  position AS message_position,
  part_position,
  role,
  'tool_call' AS part_type,
  coalesce(request ->> '$.function.name', request ->> '$.name') AS tool_name,
  request ->> '$.id' AS call_id,
  coalesce(request ->> '$.function.arguments', request ->> '$.arguments') AS arguments
FROM requests;

-- What the spans are, the current conventions say; here stands what their events tell. The
-- messages of a tool span are its arguments and its result.
CREATE OR REPLACE TEMP VIEW otel_events_operations AS
WITH spoken AS (
  SELECT
    key,
    arg_max(result, message_position) FILTER (WHERE role = 'tool') AS tool_message,
    arg_max(text, (message_position, part_position)) FILTER (WHERE role = 'user') AS user_input,
    arg_max(text, (message_position, part_position)) FILTER (
      WHERE direction = 'out' AND part_type = 'text'
    ) AS answer
  FROM otel_events_messages
  GROUP BY key
),

kinds AS (
  SELECT
    key,
    coalesce(attributes['gen_ai.operation.name'] = 'execute_tool', FALSE) AS is_tool
  FROM bucket_spans
)

SELECT
  spoken.key,
  'other' AS operation,
  if(kinds.is_tool, spoken.tool_message, NULL) AS arguments,
  if(kinds.is_tool, spoken.answer, NULL) AS result,
  if(kinds.is_tool, NULL, spoken.user_input) AS user_input,
  if(kinds.is_tool, NULL, spoken.answer) AS answer
FROM spoken
INNER JOIN kinds USING (key);
