-- Gemini CLI: a run is a conversation, made of the log records that became spans.
--
-- The CLI writes a trace for each model call, and another for the calls of tools after it. Its log
-- records hold the same and more, and each names the conversation; the collector makes a span of
-- each of them, in one trace (`encoding/agent_records.py`). A model call has two records: one with
-- its messages, in the conventions' form, and `api_response` with its tokens and its role. The
-- spans of a trace that holds such records are not steps. The names are those of
-- packages/core/src/telemetry in https://github.com/google-gemini/gemini-cli 0.61.
--
-- Rank:
--   53
-- Marks:
--   ^gemini_cli\.
--   ^gemini-cli$
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE gemini_cli_records AS
SELECT
  key,
  trace_id,
  name,
  attributes,
  attributes['event.timestamp'] AS time,
  name = 'gen_ai.client.inference.operation.details' AS is_response,
  row_number() OVER (
    PARTITION BY trace_id, name, attributes['event.timestamp'] ORDER BY start_ns, key
  ) AS position
FROM bucket_spans
WHERE scope_name = 'gemini_cli.records';

CREATE OR REPLACE TEMP VIEW gemini_cli_operations AS
WITH responses AS (
  SELECT
    trace_id,
    time,
    position,
    attributes AS response
  FROM gemini_cli_records
  WHERE name = 'gemini_cli.api_response'
),

calls AS (
  SELECT
    gemini_cli_records.key,
    responses.response
  FROM gemini_cli_records
  LEFT JOIN responses USING (trace_id, time, position)
  WHERE gemini_cli_records.is_response
)

SELECT
  records.key,
  CASE
    -- Calls that route, summarize or decide who speaks next.
    WHEN starts_with(calls.response['role'], 'utility_') THEN 'other'
    WHEN records.is_response OR records.name = 'gemini_cli.api_error' THEN 'model'
    WHEN records.name = 'gemini_cli.tool_call' THEN 'tool'
    ELSE 'other'
  END AS operation,
  'Gemini CLI' AS agent_name,
  if(records.name = 'gemini_cli.tool_call', records.attributes['function_name'], NULL)
    AS tool_name,
  if(records.name = 'gemini_cli.tool_call', records.attributes['function_args'], NULL)
    AS arguments,
  coalesce(
    records.name = 'gemini_cli.api_error' OR records.attributes['success'] = 'false', FALSE
  ) AS failed,
  records.attributes['error.type'] AS error_type,
  records.attributes['error.message'] AS error_message,
  if(records.name = 'gemini_cli.user_prompt', records.attributes['prompt'], NULL) AS user_input,
  coalesce(records.attributes['gen_ai.response.model'], records.attributes['model']) AS model,
  try_cast(calls.response['cached_content_token_count'] AS BIGINT) AS cache_read_tokens,
  try_cast(calls.response['thoughts_token_count'] AS BIGINT) AS reasoning_tokens,
  try_cast(calls.response['total_token_count'] AS BIGINT) AS total_tokens,
  FALSE AS excludes_cached,
  records.attributes['session.id'] AS conversation_id
FROM gemini_cli_records AS records
LEFT JOIN calls USING (key)
UNION ALL BY NAME
SELECT
  key,
  'other' AS operation,
  'Gemini CLI' AS agent_name,
  attributes['gen_ai.conversation.id'] AS conversation_id
FROM bucket_spans
WHERE scope_name = 'gemini-cli';

-- Texts that the CLI adds to the user's are the system's. An id in an answer has the tool's name
-- before it, which the id in later inputs lacks.
CREATE OR REPLACE TEMP VIEW gemini_cli_chat AS
WITH sides AS (
  SELECT
    key,
    unnest(['in', 'out']) AS direction,
    unnest([
      try_cast(attributes['gen_ai.input.messages'] AS JSON),
      try_cast(attributes['gen_ai.output.messages'] AS JSON)
    ]) AS messages
  FROM gemini_cli_records
  WHERE is_response
),

messages AS (
  SELECT
    key,
    direction,
    generate_subscripts(cast(messages AS JSON[]), 1) AS position,
    unnest(cast(messages AS JSON[])) AS message
  FROM sides
  WHERE json_type(messages) = 'ARRAY'
),

parts AS (
  SELECT
    key,
    direction,
    position,
    message ->> '$.role' AS role,
    generate_subscripts(cast(message -> '$.parts' AS JSON[]), 1) AS part_position,
    unnest(cast(message -> '$.parts' AS JSON[])) AS part
  FROM messages
  WHERE json_type(message, '$.parts') = 'ARRAY'
),

named AS (
  SELECT
    *,
    concat(part ->> '$.name', '__') AS prefix,
    part ->> '$.id' AS call_id,
    part ->> '$.type' = 'tool_call' AND starts_with(call_id, prefix) AS is_prefixed,
    regexp_matches(part ->> '$.content', '^<(session|hook)_context>') AS is_context
  FROM parts
)

SELECT
  key,
  direction,
  position * position_gap() + part_position AS message_position,
  json_object(
    'role',
    CASE
      WHEN direction = 'out' OR role = 'system' THEN 'assistant'
      WHEN is_context THEN 'system'
      ELSE role
    END,
    'content',
    json_array(
      genai_block(
        if(
          is_prefixed,
          json_merge_patch(part, json_object('id', substr(call_id, length(prefix) + 1))),
          part
        )
      )
    )
  ) AS message
FROM named;

CREATE OR REPLACE TEMP TABLE gemini_cli_messages AS
FROM chat_parts('gemini_cli_chat');
