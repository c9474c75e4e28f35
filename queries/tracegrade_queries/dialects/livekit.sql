-- LiveKit's voice agents: a run is a turn (`agent_turn`), below the session of a conversation.
--
-- Since 2026 names of attributes that hold content have `pii` as their second segment. A model
-- call is `llm_node`, around the client's request, which follows the GenAI conventions. Only the
-- outer span holds the calls that the model requested. The names are those of
-- telemetry/trace_types.py in https://github.com/livekit/agents.
--
-- Rank:
--   65
-- Marks:
--   ^lk\.
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP MACRO of_livekit(ATTRIBUTES, NAME) AS
coalesce(attributes['lk.' || name], attributes['lk.pii.' || name]);

CREATE OR REPLACE TEMP TABLE livekit_spans AS
SELECT
  key,
  trace_id,
  name,
  attributes,
  try_cast(of_livekit(attributes, 'chat_ctx') AS JSON) AS input_value,
  of_livekit(attributes, 'response.text') AS output_value,
  try_cast(of_livekit(attributes, 'response.function_calls') AS JSON) AS requested
FROM bucket_spans
WHERE name IN ('agent_session', 'agent_turn', 'llm_node', 'function_tool');

CREATE OR REPLACE TEMP TABLE livekit_sessions AS
SELECT
  trace_id,
  any_value(
    coalesce(
      attributes['lk.job_id'], attributes['lk.room_sid'], of_livekit(attributes, 'room_name')
    )
  ) AS conversation_id,
  any_value(
    nullif(coalesce(attributes['gen_ai.agent.name'], attributes['lk.agent_name']), '')
  ) AS agent_name
FROM livekit_spans
WHERE name = 'agent_session'
GROUP BY trace_id;

CREATE OR REPLACE TEMP VIEW livekit_chat AS
WITH items AS (
  SELECT
    key,
    generate_subscripts(cast(input_value -> '$.items' AS JSON[]), 1) AS message_position,
    unnest(cast(input_value -> '$.items' AS JSON[])) AS item
  FROM livekit_spans
  WHERE name = 'llm_node' AND json_type(input_value, '$.items') = 'ARRAY'
)

SELECT
  key,
  'in' AS direction,
  message_position,
  -- A content is a list of texts, with objects for images and audio.
  CASE item ->> '$.type'
    WHEN 'message'
      THEN
        json_object(
          'role', item ->> '$.role',
          'content',
          array_to_string(
            list_filter(item ->> '$.content[*]', LAMBDA each: NOT starts_with(each, '{"')),
            chr(10)
          )
        )
    ELSE item
  END AS message
FROM items
WHERE item ->> '$.type' IN ('message', 'function_call', 'function_call_output')
UNION ALL BY NAME
SELECT
  key,
  'out' AS direction,
  1 AS message_position,
  json_object(
    'role', 'assistant',
    'content', output_value,
    'tool_calls',
    list_transform(
      CASE WHEN json_type(requested) = 'ARRAY' THEN cast(requested AS JSON[]) END,
      LAMBDA each: json_object(
        'id', coalesce(each ->> '$.call_id', each ->> '$.id'),
        'name', each ->> '$.name',
        'arguments', each ->> '$.arguments'
      )
    )
  ) AS message
FROM livekit_spans
WHERE name = 'llm_node' AND (output_value <> '' OR json_array_length(requested) > 0);

CREATE OR REPLACE TEMP TABLE livekit_messages AS
FROM chat_parts('livekit_chat');

CREATE OR REPLACE TEMP VIEW livekit_operations AS
SELECT
  livekit_spans.key,
  CASE livekit_spans.name
    WHEN 'agent_turn' THEN 'agent'
    WHEN 'llm_node' THEN 'model'
    WHEN 'function_tool' THEN 'tool'
    ELSE 'other'
  END AS operation,
  livekit_sessions.agent_name,
  livekit_spans.attributes['lk.agent_label'] AS agent_label,
  livekit_spans.attributes['lk.function_tool.name'] AS tool_name,
  livekit_spans.attributes['lk.function_tool.id'] AS call_id,
  of_livekit(livekit_spans.attributes, 'function_tool.arguments') AS arguments,
  of_livekit(livekit_spans.attributes, 'function_tool.output') AS result,
  livekit_spans.attributes['lk.function_tool.is_error'] = 'true' AS failed,
  nullif(of_livekit(livekit_spans.attributes, 'user_input'), '') AS user_input,
  CASE
    WHEN livekit_spans.name = 'agent_turn' THEN nullif(livekit_spans.output_value, '')
  END AS answer,
  livekit_spans.attributes['gen_ai.request.model'] AS model,
  CASE WHEN livekit_spans.name = 'llm_node' THEN livekit_spans.attributes['lk.function_tools'] END
    AS offered_tools,
  coalesce(livekit_sessions.conversation_id, livekit_spans.trace_id) AS conversation_id
FROM livekit_spans
LEFT JOIN livekit_sessions USING (trace_id);
