-- Mastra: its own attributes, for what its GenAI spans leave out.
--
-- A model's step contains the model call and its tools, and lists the requested calls. A piece of
-- a stream is a thought if the step's text does not contain it. The loop of steps is one agent's
-- run; before version 1 it is a `chat` by its operation. Mastra's exporter for OpenInference
-- writes the same spans, but marks loop, steps and pieces all as models. A step ends after its
-- tools; if it never ended, its pieces list the requested calls.
--
-- Rank:
--   55
-- Marks:
--   ^mastra\.
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE mastra_spans AS
WITH inputs_outputs AS (
  SELECT
    key,
    trace_id,
    span_id,
    parent_span_id,
    start_ns,
    attributes,
    -- The model receives this text if a tool failed.
    if(failed, coalesce(exception['exception.message'], status_message), NULL) AS error,
    -- Steps and pieces are named by the agent.
    nullif(regexp_extract(name, '^(?:agent|model)_(?:step|chunk) (.+)$', 1), '') AS agent_name,
    attributes['mastra.span.type'] AS kind,
    coalesce(attributes['mastra.' || kind || '.input'], attributes['input']) AS input,
    coalesce(attributes['mastra.' || kind || '.output'], attributes['output']) AS output
  FROM bucket_spans
  WHERE attributes['mastra.span.type'] IS NOT NULL
)

SELECT
  *,
  try_cast(output AS JSON) AS output_value,
  try_cast(
    coalesce(
      attributes['mastra.metadata.body'],
      attributes['body'],
      try_cast(attributes['metadata'] AS JSON) ->> '$.body'
    ) AS JSON
  ) AS answered
FROM inputs_outputs;

-- Steps that never arrived, from the first of their pieces; it is not known which texts were
-- thoughts.
CREATE OR REPLACE TEMP TABLE mastra_lost_steps AS
SELECT
  arg_min(chunks.key, (chunks.start_ns, chunks.span_id)) AS key,
  string_agg(
    chunks.output_value ->> '$.text', '' ORDER BY chunks.start_ns, chunks.span_id
  ) AS text,
  list(
    json_object(
      'id', chunks.output_value ->> '$.toolCallId',
      'name', chunks.output_value ->> '$.toolName',
      'arguments', chunks.output_value -> '$.toolInput'
    )
    ORDER BY chunks.start_ns, chunks.span_id
  ) FILTER (WHERE json_exists(chunks.output_value, '$.toolName')) AS tool_calls
FROM mastra_spans AS chunks
LEFT JOIN mastra_spans AS steps
  ON chunks.trace_id = steps.trace_id AND chunks.parent_span_id = steps.span_id
WHERE chunks.kind = 'model_chunk' AND chunks.output_value IS NOT NULL AND steps.key IS NULL
GROUP BY chunks.trace_id, chunks.parent_span_id
HAVING tool_calls IS NOT NULL;

CREATE OR REPLACE TEMP TABLE mastra_thoughts AS
WITH steps AS (
  SELECT
    key,
    trace_id,
    span_id,
    output_value ->> '$.text' AS text
  FROM mastra_spans
  WHERE kind = 'model_step'
),

-- Pieces are below the model call of a step, or directly below the step.
pieces AS (
  SELECT
    chunks.trace_id,
    coalesce(calls.parent_span_id, chunks.parent_span_id) AS step_span_id,
    chunks.start_ns,
    chunks.span_id,
    chunks.output_value ->> '$.text' AS text
  FROM mastra_spans AS chunks
  LEFT JOIN mastra_spans AS calls
    ON
      chunks.trace_id = calls.trace_id
      AND chunks.parent_span_id = calls.span_id
      AND calls.kind = 'model_inference'
  WHERE chunks.kind = 'model_chunk'
)

SELECT
  steps.key,
  string_agg(pieces.text, '' ORDER BY pieces.start_ns, pieces.span_id) AS thought
FROM steps
INNER JOIN pieces ON steps.trace_id = pieces.trace_id AND steps.span_id = pieces.step_span_id
WHERE NOT contains(coalesce(steps.text, ''), pieces.text)
GROUP BY steps.key;

CREATE OR REPLACE TEMP VIEW mastra_chat AS
WITH lists AS (
  SELECT
    key,
    try_cast(input AS JSON) AS input_json,
    -- The request as it was sent, before version 1.
    try_cast(input_json ->> '$.body' AS JSON) -> '$.messages' AS sent
  FROM mastra_spans
  WHERE kind = 'model_step'
),

inputs AS (
  SELECT
    key,
    sent IS NOT NULL AS has_request,
    generate_subscripts(cast(coalesce(sent, input_json) AS JSON[]), 1) AS message_position,
    unnest(cast(coalesce(sent, input_json) AS JSON[])) AS message
  FROM lists
  WHERE json_type(coalesce(sent, input_json)) = 'ARRAY'
)

SELECT
  key,
  'in' AS direction,
  message_position,
  message
FROM inputs
-- Otherwise only the names of calls and their results are recorded.
WHERE has_request OR message ->> '$.role' IN ('system', 'user')
UNION ALL BY NAME
SELECT
  mastra_spans.key,
  'out' AS direction,
  1 AS message_position,
  json_object(
    'role', 'assistant',
    'content', mastra_spans.output_value ->> '$.text',
    'reasoning_content', mastra_thoughts.thought,
    'tool_calls', mastra_spans.output_value -> '$.toolCalls'
  ) AS message
FROM mastra_spans
LEFT JOIN mastra_thoughts USING (key)
WHERE mastra_spans.kind = 'model_step' AND mastra_spans.output_value IS NOT NULL
UNION ALL BY NAME
SELECT
  key,
  'out' AS direction,
  1 AS message_position,
  json_object('role', 'assistant', 'content', text, 'tool_calls', tool_calls) AS message
FROM mastra_lost_steps;

CREATE OR REPLACE TEMP TABLE mastra_messages AS
FROM chat_parts('mastra_chat');

CREATE OR REPLACE TEMP VIEW mastra_prompts AS
SELECT
  key,
  'in' AS direction,
  0 AS position,
  'user' AS role,
  input AS text
FROM mastra_spans
WHERE kind = 'agent_run';

CREATE OR REPLACE TEMP TABLE mastra_questions AS
FROM history_chat('mastra_prompts');

CREATE OR REPLACE TEMP VIEW mastra_question_parts AS
FROM chat_parts('mastra_questions');

CREATE OR REPLACE TEMP VIEW mastra_operations AS
WITH stepped AS (
  SELECT DISTINCT
    trace_id,
    parent_span_id AS span_id
  FROM mastra_spans
  WHERE kind = 'model_step' AND output_value IS NOT NULL
),

described AS (
  SELECT
    mastra_spans.*,
    question.user_input,
    CASE
      WHEN mastra_spans.kind = 'agent_run' OR stepped.span_id IS NOT NULL THEN 'agent'
      WHEN mastra_spans.kind = 'model_step' AND mastra_spans.output_value IS NOT NULL THEN 'model'
      WHEN mastra_spans.kind = 'model_generation' THEN 'model'
      WHEN mastra_spans.key IN (SELECT mastra_lost_steps.key FROM mastra_lost_steps) THEN 'model'
      WHEN mastra_spans.kind = 'tool_call' THEN 'tool'
      ELSE 'other'
    END AS operation
  FROM mastra_spans
  LEFT JOIN last_texts('mastra_question_parts') AS question USING (key)
  LEFT JOIN stepped USING (trace_id, span_id)
)

SELECT
  key,
  operation,
  agent_name,
  if(kind = 'agent_run', attributes['gen_ai.agent.id'], NULL) AS agent_label,
  if(kind = 'tool_call', input, NULL) AS arguments,
  if(kind = 'tool_call', coalesce(result_text(output), error), NULL) AS result,
  user_input,
  if(kind = 'agent_run', output_value ->> '$.text', NULL) AS answer,
  if(operation = 'model', answered ->> '$.model', NULL) AS model,
  unnest(if(operation = 'model', reported_usage(answered -> '$.usage'), NULL))  -- noqa: AL03
FROM described;
