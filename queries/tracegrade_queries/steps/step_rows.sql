-- Steps of all kinds, with what orders them.
--
-- Reads:
--   operations
--   runs_of_operations
--   model_calls
--   model_parts
--   model_members
--   known_parents
--   tool_ends
--   recalled_thoughts
--   model_texts
--   turns
--   calls
--   answers
-- Columns:
--   trajectory_id     VARCHAR
--   anchor_ns         BIGINT   Start of the producing model call, else of the span.
--   message_position  BIGINT   In the output of the model call, else 0.
--   part_position     BIGINT   In the output of the model call, else 0.
--   execution_ns      BIGINT   Start of the execution, else the anchor.
--   process_order     BIGINT
--   order_span_id     VARCHAR
--   place             INTEGER  0; 1 for an observation, which stands right after its call.
--   call              VARCHAR  Call it is or observes; else NULL.
--   model_call        BIGINT   Model call that produced it; else NULL.
--   span_key          BIGINT   Span it is read from.
--   kind              VARCHAR
--   role              VARCHAR
--   content           VARCHAR
--   plan              VARCHAR
--   provenance        VARCHAR
-- Order:
--   none
WITH model_outputs AS (
  SELECT
    model_call,
    message_position,
    part_position,
    'thought' AS kind,
    text
  FROM model_parts
  WHERE direction = 'out' AND part_type = 'reasoning' AND text IS NOT NULL
  UNION ALL BY NAME
  SELECT
    model_call,
    message_position - 1_000_000 AS message_position,
    part_position,
    'thought' AS kind,
    text
  FROM recalled_thoughts
  UNION ALL BY NAME
  SELECT
    model_texts.model_call,
    model_texts.message_position,
    model_texts.part_position,
    CASE
      WHEN model_texts.kind = 'answer' AND answers.said_answer IS NOT NULL THEN 'message'
      ELSE model_texts.kind
    END AS kind,
    model_texts.text
  FROM model_texts
  INNER JOIN model_calls USING (model_call)
  LEFT JOIN answers USING (trajectory_id)
  WHERE NOT coalesce(model_texts.kind = 'answer' AND answers.said_answer = model_texts.text, false)
),

spans AS (
  SELECT
    operations.*,
    runs_of_operations.trajectory_id
  FROM operations
  INNER JOIN runs_of_operations USING (key)
),

call_places AS (
  SELECT
    calls.*,
    coalesce(calls.execution, calls.model_call) AS span_key,
    coalesce(calls.execution_ns, calls.anchor_ns) AS start_ns
  FROM calls
),

observing AS (
  SELECT
    coalesce(tool_ends.last, executing.key) AS execution,
    arg_min(spans.key, (spans.start_ns, spans.span_id)) AS key,
    arg_min(spans.content, (spans.start_ns, spans.span_id)) AS content
  FROM spans
  INNER JOIN operations AS executing
    ON spans.trace_id = executing.trace_id AND spans.linked_span_id = executing.span_id
  LEFT JOIN tool_ends ON executing.key = tool_ends.key
  WHERE spans.operation = 'observation' AND executing.operation = 'tool'
  GROUP BY coalesce(tool_ends.last, executing.key)
),

planned AS (
  SELECT DISTINCT known_parents.parent AS key
  FROM known_parents
  INNER JOIN model_members USING (key)
  SEMI JOIN model_texts USING (model_call)
  WHERE known_parents.parent_operation = 'plan'
)

-- What a model said.
SELECT
  model_calls.trajectory_id,
  model_calls.start_ns AS anchor_ns,
  model_outputs.message_position,
  model_outputs.part_position,
  model_calls.start_ns AS execution_ns,
  operations.process_order,
  operations.span_id AS order_span_id,
  0 AS place,
  NULL::VARCHAR AS call,
  model_outputs.model_call,
  model_outputs.model_call AS span_key,
  model_outputs.kind,
  'assistant' AS role,
  model_outputs.text AS content,
  CASE WHEN model_outputs.kind = 'plan' THEN json_list_in(model_outputs.text) END AS plan,
  'derived' AS provenance
FROM model_outputs
INNER JOIN model_calls USING (model_call)
INNER JOIN operations ON model_outputs.model_call = operations.key
UNION ALL BY NAME
-- What the user said after the first turn, right before the model call that hears it.
SELECT
  model_calls.trajectory_id,
  model_calls.start_ns AS anchor_ns,
  -2_000_000 AS message_position,
  0 AS part_position,
  model_calls.start_ns AS execution_ns,
  operations.process_order,
  operations.span_id AS order_span_id,
  0 AS place,
  turns.model_call AS span_key,
  'message' AS kind,
  'user' AS role,
  turns.user_text AS content,
  'derived' AS provenance
FROM turns
INNER JOIN model_calls USING (model_call)
INNER JOIN operations ON turns.model_call = operations.key
WHERE turns.is_new AND turns.user_text IS NOT NULL
UNION ALL BY NAME
-- Calls.
SELECT
  call_places.trajectory_id,
  call_places.anchor_ns,
  call_places.message_position,
  call_places.part_position,
  call_places.start_ns AS execution_ns,
  operations.process_order,
  operations.span_id AS order_span_id,
  0 AS place,
  call_places.call,
  call_places.model_call,
  call_places.span_key,
  call_places.kind,
  'assistant' AS role,
  CASE
    WHEN call_places.kind = 'answer'
      THEN
        coalesce(
          try_cast(call_places.arguments AS JSON) ->> '$.answer', call_places.result
        )
  END AS content,
  CASE WHEN call_places.kind = 'plan' THEN plan_in(call_places.arguments) END AS plan,
  CASE WHEN call_places.execution IS NULL THEN 'derived' ELSE 'span' END AS provenance
FROM call_places
INNER JOIN operations ON call_places.span_key = operations.key
UNION ALL BY NAME
-- What came of the calls.
SELECT
  call_places.trajectory_id,
  call_places.anchor_ns,
  call_places.message_position,
  call_places.part_position,
  call_places.start_ns AS execution_ns,
  operations.process_order,
  operations.span_id AS order_span_id,
  1 AS place,
  call_places.call,
  NULL::BIGINT AS model_call,
  coalesce(observing.key, call_places.span_key) AS span_key,
  'observation' AS kind,
  'tool' AS role,
  coalesce(
    observing.content,
    call_places.observed,
    -- The agent saw the exception itself.
    nullif(concat_ws(': ', call_places.error_type, call_places.error_message), '')
  ) AS content,
  CASE WHEN observing.key IS NULL THEN 'derived' ELSE 'span' END AS provenance
FROM call_places
INNER JOIN operations ON call_places.span_key = operations.key
LEFT JOIN observing ON call_places.execution = observing.execution
WHERE
  call_places.kind = 'tool_call'
  AND (observing.key IS NOT NULL OR call_places.observed IS NOT NULL)
UNION ALL BY NAME
-- What stands on a span of its own.
SELECT
  spans.trajectory_id,
  spans.start_ns AS anchor_ns,
  0 AS message_position,
  0 AS part_position,
  spans.start_ns AS execution_ns,
  spans.process_order,
  spans.span_id AS order_span_id,
  0 AS place,
  spans.key AS span_key,
  spans.operation AS kind,
  CASE spans.operation WHEN 'observation' THEN 'environment' ELSE 'assistant' END AS role,
  coalesce(spans.content, spans.answer) AS content,
  spans.plan,
  'span' AS provenance
FROM spans
ANTI JOIN planned USING (key)
WHERE
  spans.operation IN ('plan', 'thought', 'answer')
  OR (spans.operation = 'observation' AND spans.linked_span_id IS NULL)
  -- A hand-over span repeats the request for it, if there is one.
  OR (
    spans.operation = 'handoff'
    AND spans.trajectory_id NOT IN (SELECT trajectory_id FROM calls WHERE kind = 'handoff')
  )
UNION ALL BY NAME
-- An answer that only the agent's span tells.
SELECT
  spans.trajectory_id,
  spans.end_ns AS anchor_ns,
  0 AS message_position,
  0 AS part_position,
  spans.end_ns AS execution_ns,
  spans.process_order,
  spans.span_id AS order_span_id,
  0 AS place,
  spans.key AS span_key,
  'answer' AS kind,
  'assistant' AS role,
  answers.root_answer AS content,
  'derived' AS provenance
FROM answers
INNER JOIN spans ON answers.root_key = spans.key
ANTI JOIN (
  SELECT model_calls.trajectory_id
  FROM model_texts
  INNER JOIN model_calls USING (model_call)
  WHERE model_texts.kind = 'answer'
) AS told ON answers.trajectory_id = told.trajectory_id
WHERE
  answers.said_answer IS NULL
  AND answers.trajectory_id NOT IN (SELECT trajectory_id FROM calls WHERE kind = 'answer');
