-- Google's Agent Development Kit: the attributes that its schema 1 adds to the conventions.
--
-- The request and the response of a model call are in the form of Google's API, as JSON. A run is
-- the span `invocation`; agents that hand over to one another are siblings below it. kagent writes
-- the same attributes for ADK in Go, whose request has capital names.
--
-- Rank:
--   100
-- Marks:
--   ^gcp\.vertex\.agent(\.|$)
-- Reads:
--   bucket_spans
-- Order:
--   none
-- A request in the spelling of ADK in Python.
CREATE OR REPLACE TEMP MACRO adk_request(SENT) AS
if(
  json_type(sent, '$.Contents') = 'ARRAY',
  json_merge_patch(
    '{}',
    json_object(
      'model', json_extract(sent, '$.Model'),
      'contents', json_extract(sent, '$.Contents'),
      'config', json_object(
        'system_instruction', json_extract(sent, '$.Config.systemInstruction'),
        'tools', json_extract(sent, '$.Config.tools')
      )
    )
  ),
  sent
);

CREATE OR REPLACE TEMP TABLE google_adk_spans AS
SELECT
  key,
  attributes,
  attributes['gcp.vertex.agent.tool_call_args'] AS arguments,
  attributes['gcp.vertex.agent.tool_response'] AS result,
  -- Request and response are {} if content is not captured.
  arguments = '{}' AND result = '{}' AS is_empty,
  adk_request(try_cast(attributes['gcp.vertex.agent.llm_request'] AS JSON)) AS request,
  try_cast(attributes['gcp.vertex.agent.llm_response'] AS JSON) AS response,
  -- Some versions write fewer token counts as attributes than the response holds.
  reported_usage(
    coalesce(response -> '$.usage_metadata', response -> '$.usageMetadata')
  ) AS used,
  name = 'invocation' AND scope_name = 'gcp.vertex.agent' AS is_run
FROM bucket_spans
WHERE
  attributes['gcp.vertex.agent.llm_request'] IS NOT NULL
  OR attributes['gcp.vertex.agent.tool_call_args'] IS NOT NULL
  OR (name = 'invocation' AND scope_name = 'gcp.vertex.agent');

CREATE OR REPLACE TEMP VIEW google_adk_chat AS
WITH contents AS (
  SELECT
    key,
    'in' AS direction,
    generate_subscripts(cast(request -> '$.contents' AS JSON[]), 1) AS message_position,
    unnest(cast(request -> '$.contents' AS JSON[])) AS content
  FROM google_adk_spans
  WHERE json_type(request, '$.contents') = 'ARRAY'
  UNION ALL BY NAME
  SELECT
    key,
    'in' AS direction,
    0 AS message_position,
    json_object(
      'role', 'system',
      'parts', coalesce(
        request -> '$.config.system_instruction.parts',
        json_array(json_object('text', request ->> '$.config.system_instruction'))
      )
    ) AS content
  FROM google_adk_spans
  WHERE json_exists(request, '$.config.system_instruction')
  UNION ALL BY NAME
  SELECT
    key,
    'out' AS direction,
    1 AS message_position,
    with_grounding(response -> '$.content', response) AS content
  FROM google_adk_spans
  WHERE json_type(response, '$.content') = 'OBJECT'
)

SELECT
  key,
  direction,
  message_position,
  with_grounding(
    json_object('role', content ->> '$.role', 'content', content -> '$.parts'), content
  ) AS message
FROM contents;

CREATE OR REPLACE TEMP TABLE google_adk_messages AS
FROM chat_parts('google_adk_chat');

CREATE OR REPLACE TEMP VIEW google_adk_operations AS
SELECT
  google_adk_spans.key,
  CASE
    WHEN google_adk_spans.is_run THEN 'agent'
    WHEN json_exists(google_adk_spans.request, '$.model') THEN 'model'
    ELSE 'other'
  END AS operation,
  CASE WHEN NOT google_adk_spans.is_empty THEN google_adk_spans.arguments END AS arguments,
  CASE
    WHEN NOT google_adk_spans.is_empty
      THEN nullif(google_adk_spans.result, '{"result": "<not specified>"}')
  END AS result,
  texts.user_input,
  google_adk_spans.request ->> '$.model' AS model,
  coalesce(
    google_adk_spans.used.input_tokens,
    try_cast(google_adk_spans.attributes['gen_ai.usage.input_tokens'] AS BIGINT)
  ) AS input_tokens,
  coalesce(
    google_adk_spans.used.output_tokens,
    try_cast(google_adk_spans.attributes['gen_ai.usage.output_tokens'] AS BIGINT)
  ) AS output_tokens,
  coalesce(
    google_adk_spans.used.cache_read_tokens,
    try_cast(google_adk_spans.attributes['gen_ai.usage.cache_read.input_tokens'] AS BIGINT)
  ) AS cache_read_tokens,
  try_cast(google_adk_spans.attributes['gen_ai.usage.cache_creation.input_tokens'] AS BIGINT)
    AS cache_write_tokens,
  coalesce(
    google_adk_spans.used.reasoning_tokens,
    try_cast(google_adk_spans.attributes['gen_ai.usage.reasoning.output_tokens'] AS BIGINT)
  ) AS reasoning_tokens,
  FALSE AS excludes_cached,
  CASE
    WHEN json_type(google_adk_spans.request, '$.config.tools') = 'ARRAY'
      THEN
        '['
        || array_to_string(
          (google_adk_spans.request ->> '$.config.tools[*].function_declarations[*]')
          || (google_adk_spans.request ->> '$.config.tools[*].functionDeclarations[*]'),
          ','
        )
        || ']'
  END AS offered_tools,
  google_adk_spans.attributes['gcp.vertex.agent.session_id'] AS conversation_id
FROM google_adk_spans
LEFT JOIN last_texts('google_adk_messages') AS texts USING (key);
