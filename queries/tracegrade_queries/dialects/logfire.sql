-- Pydantic AI before its spans followed the GenAI conventions; Logfire's spans of model clients.
--
-- Messages are one attribute: a list of the old conventions' events (`events` of a model call), or
-- OpenAI's own request and response. Later formats write everything else in attributes of the
-- conventions. For OpenAI's Agents SDK, Logfire writes a span's kind into the template of its
-- message, and items of the Responses API as they were sent.
--
-- Rank:
--   80
-- Marks:
--   ^pydantic-ai$
--   ^logfire\.
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE logfire_spans AS
SELECT
  key,
  name,
  scope_name,
  failed,
  attributes,
  attributes['logfire.msg_template'] AS template,
  scope_name = 'logfire.openai_agents' AS in_agents_sdk,
  -- The SDK's events and request mix outputs with inputs.
  CASE WHEN NOT in_agents_sdk THEN try_cast(attributes['events'] AS JSON) END AS events,
  CASE WHEN NOT in_agents_sdk THEN try_cast(attributes['request_data'] AS JSON) END AS request,
  try_cast(attributes['response'] AS JSON) AS responded,
  try_cast(attributes['response_data'] AS JSON) AS response,
  try_cast(attributes['model_request_parameters'] AS JSON) AS parameters
FROM bucket_spans
WHERE scope_name = 'pydantic-ai' OR starts_with(scope_name, 'logfire.');

CREATE OR REPLACE TEMP TABLE logfire_items AS
WITH lists AS (
  SELECT
    key,
    'in' AS direction,
    coalesce(attributes['raw_input'], attributes['input']) AS items
  FROM logfire_spans
  WHERE in_agents_sdk
  UNION ALL
  SELECT
    key,
    'out' AS direction,
    coalesce(responded ->> '$.output', attributes['output']) AS items
  FROM logfire_spans
  WHERE in_agents_sdk
),

items AS (
  SELECT
    key,
    direction,
    generate_subscripts(from_json(try_cast(items AS JSON), '["JSON"]'), 1) AS message_position,
    unnest(from_json(try_cast(items AS JSON), '["JSON"]')) AS item
  FROM lists
  WHERE json_type(try_cast(items AS JSON)) = 'ARRAY'
)

SELECT
  key,
  direction,
  message_position,
  item AS message
FROM items;

CREATE OR REPLACE TEMP VIEW logfire_chat AS
WITH events AS (
  SELECT
    key,
    generate_subscripts(cast(events AS JSON[]), 1) AS message_position,
    unnest(cast(events AS JSON[])) AS event
  FROM logfire_spans
  WHERE json_type(events) = 'ARRAY'
),

prompts AS (
  SELECT
    key,
    generate_subscripts(cast(request -> '$.messages' AS JSON[]), 1) AS message_position,
    unnest(cast(request -> '$.messages' AS JSON[])) AS message
  FROM logfire_spans
  WHERE json_type(request, '$.messages') = 'ARRAY'
)

SELECT
  key,
  if(json_exists(event, '$.message'), 'out', 'in') AS direction,
  message_position,
  coalesce(event -> '$.message', event) AS message
FROM events
UNION ALL BY NAME
SELECT
  key,
  'in' AS direction,
  message_position,
  message
FROM prompts
UNION ALL BY NAME
SELECT
  key,
  direction,
  message_position,
  message
FROM logfire_items
UNION ALL BY NAME
SELECT
  key,
  'out' AS direction,
  1 AS message_position,
  response -> '$.message' AS message
FROM logfire_spans
WHERE json_type(response, '$.message') = 'OBJECT';

CREATE OR REPLACE TEMP TABLE logfire_messages AS
FROM chat_parts('logfire_chat');

CREATE OR REPLACE TEMP VIEW logfire_operations AS
WITH kinds AS (
  SELECT
    logfire_spans.*,
    texts.user_input,
    CASE
      WHEN logfire_spans.in_agents_sdk AND logfire_spans.template LIKE 'OpenAI Agents trace:%'
        THEN 'agent'
      WHEN logfire_spans.in_agents_sdk AND logfire_spans.template LIKE 'Agent run:%' THEN 'agent'
      WHEN logfire_spans.in_agents_sdk AND logfire_spans.template LIKE 'Function:%' THEN 'tool'
      WHEN logfire_spans.in_agents_sdk AND logfire_spans.template LIKE 'Handoff:%' THEN 'handoff'
      WHEN logfire_spans.in_agents_sdk AND texts.key IS NULL THEN 'other'
      WHEN logfire_spans.in_agents_sdk THEN 'model'
      -- The request of a stream: another span at the end of the stream holds the response.
      WHEN
        logfire_spans.attributes['logfire.span_type'] = 'span'
        AND logfire_spans.scope_name IN ('logfire.openai', 'logfire.anthropic')
        AND logfire_spans.attributes['gen_ai.usage.input_tokens'] IS NULL
        AND logfire_spans.response IS NULL
        AND NOT logfire_spans.failed
        THEN 'other'
      WHEN logfire_spans.attributes['agent_name'] IS NOT NULL THEN 'agent'
      WHEN logfire_spans.attributes['gen_ai.tool.name'] IS NOT NULL THEN 'tool'
      WHEN texts.key IS NOT NULL OR logfire_spans.parameters IS NOT NULL THEN 'model'
      ELSE 'other'
    END AS operation
  FROM logfire_spans
  LEFT JOIN last_texts('logfire_messages') AS texts USING (key)
)

SELECT
  key,
  operation,
  CASE
    WHEN NOT in_agents_sdk THEN attributes['agent_name']
    WHEN template LIKE 'Agent run:%' THEN attributes['name']
  END AS agent_name,
  CASE
    WHEN NOT in_agents_sdk THEN attributes['gen_ai.tool.name']
    WHEN operation = 'tool' THEN attributes['name']
    WHEN operation = 'handoff' THEN attributes['to_agent']
  END AS tool_name,
  attributes['gen_ai.tool.call.id'] AS call_id,
  CASE
    WHEN in_agents_sdk AND operation = 'tool' THEN attributes['input']
    ELSE coalesce(attributes['tool_arguments'], attributes['gen_ai.tool.call.arguments'])
  END AS arguments,
  CASE
    WHEN in_agents_sdk AND operation = 'tool' THEN attributes['output']
    ELSE
      coalesce(attributes['tool_response'], result_text(attributes['gen_ai.tool.call.result']))
  END AS result,
  failed OR (in_agents_sdk AND coalesce(attributes['error'], 'null') <> 'null') AS failed,
  user_input,
  nullif(attributes['final_result'], 'null') AS answer,
  coalesce(attributes['gen_ai.response.model'], attributes['gen_ai.request.model']) AS model,
  try_cast(attributes['gen_ai.usage.input_tokens'] AS BIGINT) AS input_tokens,
  try_cast(attributes['gen_ai.usage.output_tokens'] AS BIGINT) AS output_tokens,
  coalesce(
    try_cast(attributes['gen_ai.usage.details.reasoning_tokens'] AS BIGINT),
    reported_usage(response -> '$.usage').reasoning_tokens,
    reported_usage(responded -> '$.usage').reasoning_tokens
  ) AS reasoning_tokens,
  coalesce(
    reported_usage(response -> '$.usage').cache_read_tokens,
    reported_usage(responded -> '$.usage').cache_read_tokens
  ) AS cache_read_tokens,
  coalesce(
    reported_usage(response -> '$.usage').cache_write_tokens,
    reported_usage(responded -> '$.usage').cache_write_tokens
  ) AS cache_write_tokens,
  -- Pydantic adds up the counts that a provider states separately.
  FALSE AS excludes_cached,
  coalesce(parameters ->> '$.function_tools', request ->> '$.tools', responded ->> '$.tools')
    AS offered_tools,
  coalesce(attributes['gen_ai.conversation.id'], nullif(attributes['group_id'], 'null'))
    AS conversation_id
FROM kinds
WHERE operation <> 'other';
