-- Claude Code: spans by `span.type`; texts of the model and the tools are in log records.
--
-- The records belong to the interaction, not to a model call. A text goes to the call whose end is
-- nearest in time, arguments to the tool call with their id. Requested tools that never ran are
-- not recorded anywhere.
--
-- Rank:
--   50
-- Marks:
--   ^com\.anthropic\.claude_code
-- Reads:
--   bucket_events
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE claude_code_spans AS
SELECT
  key,
  trace_id,
  span_id,
  parent_span_id,
  end_ns,
  failed,
  status_message,
  attributes,
  attributes['span.type'] AS kind
FROM bucket_spans
WHERE scope_name = 'com.anthropic.claude_code.tracing' AND attributes['span.type'] IS NOT NULL;

CREATE OR REPLACE TEMP TABLE claude_code_messages AS
WITH responses AS (
  SELECT
    claude_code_spans.trace_id,
    claude_code_spans.span_id AS parent_span_id,
    bucket_events.position,
    bucket_events.time_ns,
    bucket_events.attributes['response'] AS text
  FROM bucket_events
  INNER JOIN claude_code_spans USING (key)
  WHERE
    bucket_events.attributes['event.name'] = 'assistant_response'
    -- Claude Code redacts responses unless its user allows them.
    AND bucket_events.attributes['response'] <> '<REDACTED>'
),

calls AS (
  SELECT
    key,
    trace_id,
    parent_span_id,
    end_ns
  FROM claude_code_spans
  WHERE kind = 'llm_request'
)

SELECT
  arg_min(calls.key, abs(calls.end_ns - responses.time_ns)) AS key,
  'out' AS direction,
  responses.position AS message_position,
  1 AS part_position,
  'assistant' AS role,
  'text' AS part_type,
  responses.text
FROM responses
INNER JOIN calls USING (trace_id, parent_span_id)
GROUP BY responses.trace_id, responses.parent_span_id, responses.position, responses.text;

CREATE OR REPLACE TEMP VIEW claude_code_operations AS
WITH results AS (
  SELECT
    claude_code_spans.trace_id,
    bucket_events.attributes['tool_use_id'] AS call_id,
    any_value(bucket_events.attributes['tool_input']) AS arguments,
    bool_or(bucket_events.attributes['success'] = 'false') AS failed,
    any_value(bucket_events.attributes['error']) AS error_message
  FROM bucket_events
  INNER JOIN claude_code_spans USING (key)
  WHERE bucket_events.attributes['event.name'] = 'tool_result'
  GROUP BY claude_code_spans.trace_id, bucket_events.attributes['tool_use_id']
),

executions AS (
  SELECT
    trace_id,
    parent_span_id AS span_id,
    bool_or(failed) AS failed,
    any_value(attributes['error.type']) AS error_type,
    any_value(coalesce(attributes['error'], status_message)) AS error_message
  FROM claude_code_spans
  WHERE kind = 'tool.execution'
  GROUP BY trace_id, parent_span_id
),

-- A call that the user refused was not executed.
refusals AS (
  SELECT DISTINCT
    trace_id,
    parent_span_id AS span_id,
    TRUE AS is_refused
  FROM claude_code_spans
  WHERE kind = 'tool.blocked_on_user' AND attributes['decision'] = 'reject'
),

outputs AS (
  SELECT
    key,
    any_value(coalesce(attributes['content'], attributes['output'])) AS result
  FROM bucket_events
  WHERE name = 'tool.output'
  GROUP BY key
)

SELECT
  spans.key,
  CASE spans.kind
    WHEN 'interaction' THEN 'agent'
    WHEN 'llm_request' THEN 'model'
    WHEN 'tool' THEN 'tool'
    ELSE 'other'
  END AS operation,
  if(spans.kind = 'interaction', 'Claude Code', NULL) AS agent_label,
  if(spans.kind = 'tool', spans.attributes['tool_name'], NULL) AS tool_name,
  if(spans.kind = 'tool', spans.attributes['tool_use_id'], NULL) AS call_id,
  if(
    spans.kind = 'tool',
    coalesce(
      results.arguments,
      -- Without the record, the arguments come from the span itself.
      if(
        spans.attributes['file_path'] IS NOT NULL,
        cast(json_object('file_path', spans.attributes['file_path']) AS VARCHAR),
        NULL
      ),
      if(
        spans.attributes['full_command'] IS NOT NULL,
        cast(json_object('command', spans.attributes['full_command']) AS VARCHAR),
        NULL
      )
    ),
    NULL
  ) AS arguments,
  -- The model receives the error of a tool as its result.
  if(
    spans.kind = 'tool',
    coalesce(outputs.result, executions.error_message, results.error_message),
    NULL
  ) AS result,
  if(spans.kind = 'interaction', nullif(spans.attributes['user_prompt'], '<REDACTED>'), NULL)
    AS user_input,
  coalesce(executions.failed, refusals.is_refused, FALSE)
  OR coalesce(if(spans.kind = 'tool', results.failed, NULL), FALSE) AS failed,
  executions.error_type,
  coalesce(executions.error_message, if(spans.kind = 'tool', results.error_message, NULL))
    AS error_message,
  if(spans.kind = 'llm_request', spans.attributes['model'], NULL) AS model,
  try_cast(spans.attributes['input_tokens'] AS BIGINT) AS input_tokens,
  try_cast(spans.attributes['output_tokens'] AS BIGINT) AS output_tokens,
  try_cast(spans.attributes['cache_read_tokens'] AS BIGINT) AS cache_read_tokens,
  try_cast(spans.attributes['cache_creation_tokens'] AS BIGINT) AS cache_write_tokens,
  -- As Anthropic counts: without tokens read from or written to a cache.
  TRUE AS excludes_cached,
  coalesce(spans.attributes['gen_ai.conversation.id'], spans.attributes['session.id'])
    AS conversation_id
FROM claude_code_spans AS spans
LEFT JOIN executions USING (trace_id, span_id)
LEFT JOIN refusals USING (trace_id, span_id)
LEFT JOIN outputs USING (key)
LEFT JOIN results
  ON spans.trace_id = results.trace_id AND spans.attributes['tool_use_id'] = results.call_id;
