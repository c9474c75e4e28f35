-- LlamaIndex's own observability: a span for each method, with events for what happened in it.
--
-- The steps of a workflow record their inputs as Python's texts, cut after 200 characters. The
-- called tool is read from them, and its id if it is not cut. The name of an agent is not read,
-- since it comes after the user's request. A streamed answer arrives after the end of its span, so
-- no span or event contains it.
--
-- Rank:
--   130
-- Marks:
--   ^llamaindex\.opentelemetry\.tracer$
-- Reads:
--   bucket_events
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE llama_index_events AS
SELECT
  key,
  CASE name
    WHEN 'LLMChatStartEvent' THEN attributes['messages']
    WHEN 'LLMCompletionStartEvent'
      THEN json_array(json_object('role', 'user', 'content', attributes['prompt']))
    WHEN 'LLMCompletionEndEvent'
      THEN json_array(json_object('role', 'assistant', 'content', attributes['response.text']))
    WHEN 'LLMChatEndEvent'
      THEN json_array(json_object(
        'role', 'assistant',
        'blocks', try_cast(attributes['response.message.blocks'] AS JSON),
        'tool_calls', try_cast(attributes['response.message.additional_kwargs.tool_calls'] AS JSON)
      ))
  END AS messages,
  ends_with(name, 'EndEvent') AS is_end,
  attributes
FROM bucket_events
WHERE
  name IN (
    'LLMChatStartEvent', 'LLMChatEndEvent', 'LLMCompletionStartEvent', 'LLMCompletionEndEvent'
  );

CREATE OR REPLACE TEMP VIEW llama_index_chat AS
WITH lists AS (
  SELECT
    key,
    if(is_end, 'out', 'in') AS direction,
    cast(try_cast(messages AS JSON) AS JSON[]) AS messages
  FROM llama_index_events
  WHERE json_type(try_cast(messages AS JSON)) = 'ARRAY'
),

inputs_outputs AS (
  SELECT
    key,
    direction,
    generate_subscripts(messages, 1) AS message_position,
    unnest(messages) AS message
  FROM lists
)

-- A call is among the blocks; older versions write it only next to them.
SELECT
  key,
  direction,
  message_position,
  json_object(
    'role',
    message ->> '$.role',
    'tool_call_id',
    message ->> '$.additional_kwargs.tool_call_id',
    'content',
    CASE
      WHEN json_type(message, '$.blocks') IS DISTINCT FROM 'ARRAY' THEN message -> '$.content'
      WHEN message ->> '$.role' = 'tool'
        THEN to_json(array_to_string(message ->> '$.blocks[*].text', chr(10)))
      ELSE llama_index_content(message -> '$.blocks')
    END,
    'tool_calls',
    CASE
      WHEN len(message ->> '$.blocks[*].tool_name') > 0 THEN NULL
      ELSE coalesce(message -> '$.tool_calls', message -> '$.additional_kwargs.tool_calls')
    END
  ) AS message
FROM inputs_outputs;

CREATE OR REPLACE TEMP TABLE llama_index_messages AS
FROM chat_parts('llama_index_chat');

CREATE OR REPLACE TEMP VIEW llama_index_operations AS
WITH calls AS (
  SELECT
    key,
    any_value(attributes['additional_kwargs.tools']) FILTER (WHERE NOT is_end) AS offered_tools,
    coalesce(
      any_value(attributes['response.raw.model']), any_value(attributes['model_dict.model_name'])
    ) AS model,
    any_value(coalesce(
      attributes['response.additional_kwargs.prompt_tokens'],
      attributes['response.raw.usage.prompt_tokens'],
      attributes['response.raw.usage.input_tokens']
    )) AS input_tokens,
    any_value(coalesce(
      attributes['response.additional_kwargs.completion_tokens'],
      attributes['response.raw.usage.completion_tokens'],
      attributes['response.raw.usage.output_tokens']
    )) AS output_tokens,
    any_value(coalesce(
      attributes['response.raw.usage.prompt_tokens_details.cached_tokens'],
      attributes['response.raw.usage.input_tokens_details.cached_tokens'],
      attributes['response.raw.usage.cache_read_input_tokens']
    )) AS cache_read_tokens,
    any_value(coalesce(
      attributes['response.raw.usage.completion_tokens_details.reasoning_tokens'],
      attributes['response.raw.usage.output_tokens_details.reasoning_tokens']
    )) AS reasoning_tokens,
    any_value(attributes['response.raw.usage.cache_creation_input_tokens']) AS cache_write_tokens,
    -- The provider's counts: Anthropic's input does not include cached tokens.
    bool_or(
      attributes['response.raw.usage.input_tokens'] IS NOT NULL
      AND attributes['response.raw.usage.input_tokens_details.cached_tokens'] IS NULL
    ) AS excludes_cached
  FROM llama_index_events
  GROUP BY key
),

spans AS (
  SELECT
    key,
    parent_span_id,
    name,
    if(
      regexp_matches(name, '\.(call_tool|a?call)$')
      AND attributes['llamaindex.step.input_event'] = 'ToolCall',
      attributes['llamaindex.step.input_summary'],
      NULL
    ) AS called
  FROM bucket_spans
  WHERE scope_name = 'llamaindex.opentelemetry.tracer'
)

SELECT
  spans.key,
  CASE
    WHEN calls.key IS NOT NULL THEN 'model'
    WHEN spans.called IS NOT NULL THEN 'tool'
    WHEN regexp_matches(spans.name, '(Agent|AgentWorkflow)\.run$') THEN 'agent'
    -- A workflow that is not an agent but calls models and tools.
    WHEN ends_with(spans.name, '.run') AND spans.parent_span_id IS NULL THEN 'agent'
    ELSE 'other'
  END AS operation,
  if(operation = 'agent', regexp_replace(spans.name, '\.run$', ''), NULL) AS agent_label,
  nullif(regexp_extract(spans.called, '^ToolCall\(tool_name=\x27([^\x27]+)\x27', 1), '')
    AS tool_name,
  nullif(regexp_extract(spans.called, ', tool_id=\x27([^\x27]+)\x27\)$', 1), '') AS call_id,
  texts.user_input,
  calls.offered_tools,
  calls.model,
  try_cast(calls.input_tokens AS BIGINT) AS input_tokens,
  try_cast(calls.output_tokens AS BIGINT) AS output_tokens,
  try_cast(calls.cache_read_tokens AS BIGINT) AS cache_read_tokens,
  try_cast(calls.reasoning_tokens AS BIGINT) AS reasoning_tokens,
  try_cast(calls.cache_write_tokens AS BIGINT) AS cache_write_tokens,
  calls.excludes_cached
FROM spans
LEFT JOIN calls ON spans.key = calls.key
LEFT JOIN last_texts('llama_index_messages') AS texts ON spans.key = texts.key;
