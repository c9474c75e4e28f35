-- Codex: spans of a turn, its model calls and its tools; prompts and results are in log records.
--
-- The records `codex.user_prompt` and `codex.tool_result` belong to spans inside the turn. No
-- record has a text of the model, and those of the tokens of model calls belong to no span: a span
-- next to the model call, of the last event of its stream, repeats them. Without an exporter of
-- spans, the collector makes a span of each record, in one trace for each
-- conversation (`encoding/agent_records.py`). They are read if the prompt is among them.
-- The names are those of otel/src/events in https://github.com/openai/codex 0.171.
--
-- Rank:
--   52
-- Marks:
--   ^codex(_|-|\.)
-- Reads:
--   bucket_events
--   bucket_spans
-- Order:
--   none
-- In the lines before the output of a command, never in the output itself.
CREATE OR REPLACE TEMP MACRO exit_code_of_codex() AS
'^(?:(?:Chunk ID|Wall time|Total output lines|Original token count|Warning): [^\n]*\n)*'
|| '(?:Exit code:|Process exited with code) (-?[0-9]+)';

CREATE OR REPLACE TEMP TABLE codex_spans AS
WITH conversations AS (
  SELECT DISTINCT trace_id
  FROM bucket_spans
  WHERE scope_name = 'codex.records' AND name = 'codex.user_prompt'
)

SELECT
  key,
  trace_id,
  parent_span_id,
  start_ns,
  attributes,
  scope_name = 'codex.records' AS is_record,
  CASE
    -- The other records of the conversation belong to spans.
    WHEN scope_name = 'codex.records' AND trace_id NOT IN (FROM conversations) THEN 'other'
    WHEN name = 'session_task.turn' THEN 'agent'
    -- It opens a connection, and asks for no output.
    WHEN attributes['websocket.warmup'] = 'true' THEN 'other'
    -- The end of a stream, with what the model call used.
    WHEN attributes['codex.usage.total_tokens'] IS NOT NULL THEN 'other'
    WHEN starts_with(name, 'model_client.stream_responses') THEN 'model'
    WHEN attributes['codex.tool.phase'] = 'dispatch' THEN 'tool'
    WHEN name = 'codex.sse_event' THEN 'model'
    WHEN name = 'codex.tool_result' THEN 'tool'
    ELSE 'other'
  END AS operation
FROM bucket_spans
WHERE
  starts_with(scope_name, 'codex') AND (
    name = 'session_task.turn'
    OR starts_with(name, 'model_client.stream_responses')
    OR attributes['codex.tool.phase'] = 'dispatch'
    OR attributes['codex.usage.total_tokens'] IS NOT NULL
    OR scope_name = 'codex.records'
  );

-- The tokens of each model call. The span of the end of a stream is two levels below that of the
-- request, and the span of the model call is up to four. A request that was opened again has
-- several; the last one was answered.
CREATE OR REPLACE TEMP TABLE codex_usage AS
WITH stream_ends AS (
  SELECT
    codex_spans.key,
    codex_spans.trace_id,
    codex_spans.start_ns,
    codex_spans.attributes,
    streams.parent_span_id AS request
  FROM codex_spans
  LEFT JOIN bucket_spans AS streams
    ON
      codex_spans.trace_id = streams.trace_id
      AND codex_spans.parent_span_id = streams.span_id
  WHERE codex_spans.attributes['codex.usage.total_tokens'] IS NOT NULL
),

requests AS (
  SELECT
    codex_spans.key,
    codex_spans.trace_id,
    codex_spans.start_ns,
    unnest(
      [
        codex_spans.parent_span_id, above.parent_span_id, second.parent_span_id,
        third.parent_span_id
      ]
    ) AS request
  FROM codex_spans
  LEFT JOIN bucket_spans AS above
    ON codex_spans.trace_id = above.trace_id AND codex_spans.parent_span_id = above.span_id
  LEFT JOIN bucket_spans AS second
    ON above.trace_id = second.trace_id AND above.parent_span_id = second.span_id
  LEFT JOIN bucket_spans AS third
    ON second.trace_id = third.trace_id AND second.parent_span_id = third.span_id
  WHERE
    codex_spans.operation = 'model'
    AND codex_spans.trace_id IN (SELECT stream_ends.trace_id FROM stream_ends)
)

SELECT
  requests.key,
  arg_max(stream_ends.attributes, stream_ends.start_ns) AS attributes
FROM stream_ends
ASOF JOIN requests
  ON
    stream_ends.trace_id = requests.trace_id
    AND stream_ends.request = requests.request
    AND stream_ends.start_ns >= requests.start_ns
GROUP BY requests.key;

CREATE OR REPLACE TEMP TABLE codex_records AS
SELECT
  bucket_spans.trace_id,
  bucket_events.attributes['event.name'] AS name,
  bucket_events.time_ns,
  bucket_events.attributes
FROM bucket_events
INNER JOIN bucket_spans USING (key)
WHERE bucket_events.attributes['event.name'] IN ('codex.user_prompt', 'codex.tool_result')
UNION ALL BY NAME
SELECT
  trace_id,
  attributes['event.name'] AS name,
  start_ns AS time_ns,
  attributes
FROM codex_spans
WHERE is_record;

CREATE OR REPLACE TEMP TABLE codex_messages AS
WITH prompts AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY trace_id ORDER BY time_ns) AS position
  FROM codex_records
  WHERE name = 'codex.user_prompt'
),

calls AS (
  SELECT
    prompts.trace_id,
    prompts.position,
    -- A trace of spans has one turn.
    coalesce(
      arg_min(codex_spans.key, codex_spans.start_ns) FILTER (
        WHERE codex_spans.start_ns >= prompts.time_ns
      ),
      arg_min(codex_spans.key, codex_spans.start_ns)
    ) AS key
  FROM prompts
  INNER JOIN codex_spans USING (trace_id)
  WHERE codex_spans.operation = 'model'
  GROUP BY prompts.trace_id, prompts.position
)

SELECT
  calls.key,
  'in' AS direction,
  calls.position AS message_position,
  1 AS part_position,
  'user' AS role,
  'text' AS part_type,
  prompts.attributes['prompt'] AS text
FROM prompts
INNER JOIN calls USING (trace_id, position)
-- Codex redacts prompts unless its user allows them.
WHERE prompts.attributes['prompt'] <> '[REDACTED]';

CREATE OR REPLACE TEMP VIEW codex_operations AS
WITH results AS (
  SELECT
    trace_id,
    attributes['call_id'] AS call_id,
    any_value(attributes['arguments']) AS arguments,
    any_value(attributes['output']) AS result,
    bool_or(attributes['success'] = 'false') AS failed,
    any_value(
      nullif(regexp_extract(attributes['output'], exit_code_of_codex(), 1), '')
    ) AS exit_code
  FROM codex_records
  WHERE name = 'codex.tool_result'
  GROUP BY trace_id, attributes['call_id']
),

prompts AS (
  SELECT
    trace_id,
    arg_min(nullif(attributes['prompt'], '[REDACTED]'), time_ns) AS user_input,
    min(attributes['conversation.id']) AS conversation_id
  FROM codex_records
  WHERE name = 'codex.user_prompt'
  GROUP BY trace_id
)

SELECT
  spans.key,
  spans.operation,
  if(spans.operation = 'agent', 'Codex', NULL) AS agent_label,
  if(spans.is_record, 'Codex', NULL) AS agent_name,
  if(spans.operation = 'tool', spans.attributes['tool_name'], NULL) AS tool_name,
  if(spans.operation = 'tool', spans.attributes['call_id'], NULL) AS call_id,
  results.arguments,
  results.result,
  coalesce(results.failed OR results.exit_code <> '0', FALSE)
  OR (spans.operation = 'model' AND spans.attributes['error.message'] IS NOT NULL) AS failed,
  CASE
    WHEN results.exit_code <> '0' THEN 'exit code ' || results.exit_code
    WHEN results.failed THEN results.result
    WHEN spans.operation = 'model' THEN spans.attributes['error.message']
  END AS error_message,
  if(spans.operation IN ('agent', 'other'), prompts.user_input, NULL) AS user_input,
  if(spans.operation = 'model', spans.attributes['model'], NULL) AS model,
  try_cast(
    coalesce(
      spans.attributes['input_token_count'], codex_usage.attributes['gen_ai.usage.input_tokens']
    ) AS BIGINT
  ) AS input_tokens,
  try_cast(
    coalesce(
      spans.attributes['output_token_count'], codex_usage.attributes['gen_ai.usage.output_tokens']
    ) AS BIGINT
  ) AS output_tokens,
  try_cast(
    coalesce(
      spans.attributes['cached_token_count'],
      codex_usage.attributes['gen_ai.usage.cache_read.input_tokens']
    ) AS BIGINT
  ) AS cache_read_tokens,
  try_cast(
    coalesce(
      spans.attributes['reasoning_token_count'],
      codex_usage.attributes['codex.usage.reasoning_output_tokens']
    ) AS BIGINT
  ) AS reasoning_tokens,
  FALSE AS excludes_cached,
  coalesce(prompts.conversation_id, spans.attributes['conversation.id']) AS conversation_id
FROM codex_spans AS spans
LEFT JOIN codex_usage USING (key)
LEFT JOIN prompts USING (trace_id)
LEFT JOIN results
  ON spans.trace_id = results.trace_id AND spans.attributes['call_id'] = results.call_id;
