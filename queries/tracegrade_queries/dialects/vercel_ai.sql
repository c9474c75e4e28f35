-- Vercel AI SDK: version 6, and 7 with its legacy telemetry. ai.operationId tells the kind.
--
-- OpenCode calls the SDK once for each step of its own loop, so a run is its own span around the
-- loop. The names are those of packages/opencode in https://github.com/anomalyco/opencode.
--
-- Rank:
--   90
-- Marks:
--   ^ai\.
--   ^opencode$
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE vercel_ai_spans AS
SELECT
  key,
  name,
  attributes,
  attributes['ai.operationId'] AS operation_id,
  nullif(attributes['ai.telemetry.functionId'], 'session.llm') AS function_id,
  scope_name = 'opencode' OR attributes['ai.telemetry.functionId'] = 'session.llm' AS is_opencode,
  try_cast(attributes['ai.prompt'] AS JSON) AS prompt,
  try_cast(attributes['ai.prompt.messages'] AS JSON) AS input_value,
  try_cast(attributes['ai.prompt.tools'] AS JSON) AS tools
FROM bucket_spans
WHERE attributes['ai.operationId'] IS NOT NULL OR scope_name = 'opencode';

CREATE OR REPLACE TEMP VIEW vercel_ai_chat AS
SELECT
  key,
  'in' AS direction,
  generate_subscripts(cast(input_value AS JSON[]), 1) AS message_position,
  unnest(cast(input_value AS JSON[])) AS message
FROM vercel_ai_spans
WHERE json_type(input_value) = 'ARRAY'
UNION ALL BY NAME
SELECT
  key,
  'out' AS direction,
  1 AS message_position,
  with_grounding(
    json_object(
      'role', 'assistant',
      'reasoning', attributes['ai.response.reasoning'],
      'content', coalesce(attributes['ai.response.text'], attributes['ai.response.object']),
      'tool_calls', try_cast(attributes['ai.response.toolCalls'] AS JSON)
    ),
    google_metadata(attributes['ai.response.providerMetadata'])
  ) AS message
FROM vercel_ai_spans;

CREATE OR REPLACE TEMP TABLE vercel_ai_messages AS
FROM chat_parts('vercel_ai_chat');

CREATE OR REPLACE TEMP VIEW vercel_ai_operations AS
SELECT
  key,
  CASE
    WHEN regexp_matches(operation_id, '\.do(Generate|Stream)$') THEN 'model'
    WHEN operation_id = 'ai.toolCall' THEN 'tool'
    WHEN is_opencode
      THEN
        CASE
          WHEN regexp_matches(name, '^SessionPrompt\.(command|loop|prompt|run)$') THEN 'agent'
          WHEN name = 'Tool.execute' THEN 'tool'
          ELSE 'other'
        END
    WHEN regexp_matches(operation_id, '^ai\.(generate|stream)') THEN 'agent'
    ELSE 'other'
  END AS operation,
  coalesce(function_id, if(is_opencode, 'OpenCode', NULL)) AS agent_name,
  coalesce(attributes['ai.toolCall.name'], attributes['tool.name']) AS tool_name,
  coalesce(attributes['ai.toolCall.id'], attributes['tool.call_id']) AS call_id,
  attributes['ai.toolCall.args'] AS arguments,
  result_text(attributes['ai.toolCall.result']) AS result,
  is_marked_failed(attributes['ai.toolCall.result']) AS failed,
  CASE WHEN json_type(prompt, '$.prompt') = 'VARCHAR' THEN prompt ->> '$.prompt' END AS user_input,
  coalesce(attributes['ai.response.text'], attributes['ai.response.object']) AS answer,
  coalesce(attributes['ai.response.model'], attributes['ai.model.id']) AS model,
  try_cast(
    coalesce(attributes['ai.usage.inputTokens'], attributes['ai.usage.promptTokens']) AS BIGINT
  ) AS input_tokens,
  try_cast(
    coalesce(attributes['ai.usage.outputTokens'], attributes['ai.usage.completionTokens'])
    AS BIGINT
  ) AS output_tokens,
  try_cast(
    coalesce(
      attributes['ai.usage.inputTokenDetails.cacheReadTokens'],
      attributes['ai.usage.cachedInputTokens']
    ) AS BIGINT
  ) AS cache_read_tokens,
  try_cast(attributes['ai.usage.inputTokenDetails.cacheWriteTokens'] AS BIGINT)
    AS cache_write_tokens,
  try_cast(
    coalesce(
      attributes['ai.usage.outputTokenDetails.reasoningTokens'],
      attributes['ai.usage.reasoningTokens']
    ) AS BIGINT
  ) AS reasoning_tokens,
  try_cast(attributes['ai.usage.totalTokens'] AS BIGINT) AS total_tokens,
  -- Before version 6 it passed on Anthropic's and Bedrock's input, which does not include them; a
  -- gateway does not name the provider.
  CASE
    WHEN
      attributes['ai.usage.inputTokenDetails.cacheReadTokens'] IS NOT NULL
      OR attributes['ai.usage.inputTokenDetails.noCacheTokens'] IS NOT NULL
      THEN FALSE
    WHEN regexp_matches(lower(attributes['ai.model.provider']), 'anthropic|bedrock') THEN TRUE
    WHEN regexp_matches(lower(attributes['ai.model.provider']), 'openai|azure|google|xai|mistral')
      THEN FALSE
  END AS excludes_cached,
  -- Each definition is a JSON text in the list.
  CASE
    WHEN json_type(tools) = 'ARRAY' THEN '[' || array_to_string(tools ->> '$[*]', ',') || ']'
  END AS offered_tools,
  coalesce(
    attributes['ai.telemetry.metadata.sessionId'],
    attributes['ai.telemetry.metadata.session_id'],
    attributes['ai.telemetry.metadata.conversationId'],
    attributes['ai.telemetry.metadata.threadId'],
    if(is_opencode, attributes['session.id'], NULL)
  ) AS conversation_id
FROM vercel_ai_spans;
