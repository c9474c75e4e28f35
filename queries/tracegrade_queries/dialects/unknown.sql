-- The last resort: spans that no other dialect recognizes, read by their attributes and names.
--
-- A span's attributes give its kind: an attribute for the kind, a tool's name, or token counts.
-- Otherwise its name may give the kind, unless its attributes belong to another domain (HTTP,
-- databases, …). A trace is an agent's if one span shows it by attributes, if another dialect
-- recognizes a span, or if names show two kinds of spans; other traces are left alone. If a
-- dialect recognizes agents, models or tools of a trace, no further ones are guessed. A trace
-- without an agent is the run of its only root, if that span has an input or an output.
--
-- Rank:
--   1000
-- Reads:
--   all_spans
--   bucket_spans
--   dialect_operations
--   shapes
--   unknown_fields
-- Order:
--   none
CREATE OR REPLACE TEMP MACRO words_of(NAME) AS
trim(
  lower(
    regexp_replace(
      regexp_replace(name, '([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])', '\1\3_\2\4', 'g'),
      '[^A-Za-z0-9]+', '_', 'g'
    )
  ),
  '_'
);

-- The operation of a span by the words of its kind, as in `span.kind` = `tool`.
CREATE OR REPLACE TEMP MACRO kind_of(WORDS) AS
CASE
  WHEN
    words IN (
      'tool', 'tool_call', 'tool_use', 'tool_execution', 'execute_tool', 'call_tool',
      'function_call', 'function_tool'
    )
    THEN 'tool'
  WHEN
    words IN (
      'llm', 'llm_call', 'llm_request', 'model', 'model_call', 'chat_model', 'chat',
      'chat_completion', 'completion', 'text_completion', 'generation'
    )
    THEN 'model'
  WHEN words IN ('agent', 'agent_run', 'run_agent', 'invoke_agent') THEN 'agent'
END;

-- The operation of a span by the words of its name, as in `tool.call`.
CREATE OR REPLACE TEMP MACRO kind_of_name(WORDS) AS
CASE
  WHEN regexp_matches(words, '(^|_)(user_agent|embed|embedding|embeddings|rerank|retriever)(_|$)')
    THEN 'other'
  WHEN regexp_matches(words, '(^|_)agent(_(run|step|turn|loop|executor|invoke|execute|task))?$')
    THEN 'agent'
  WHEN
    regexp_matches(
      words,
      '(^|_)((call|execute|invoke|run|use)_tool|tool_(call|execute|execution|invoke|run|use)'
      '|function_(call|tool))(_|$)|^tool(_|$)|_tool$'
    )
    AND NOT regexp_matches(words, 'tool_(choice|definition|list|registry|select|selection)(_|$)')
    THEN 'tool'
  WHEN
    regexp_matches(
      words,
      '(^|_)((call|invoke|query|ask|prompt|request)_(llm|model)|(llm|model)_(call|chat'
      '|completion|generate|generation|inference|invoke|invocation|node|query|request)'
      '|chat_completions?|text_completion|generate_(content|text|response))(_|$)|(^|_)llm$'
    )
    THEN 'model'
  WHEN regexp_matches(words, '(^|_)agent(_|$)') THEN 'agent'
END;

-- The specific part of a name: `get_weather` in `execute_tool get_weather`, NULL in `agent.run`.
CREATE OR REPLACE TEMP MACRO own_name(NAME) AS
nullif(
  array_to_string(
    list_filter(
      string_split_regex(name, '[ .:/]+'),
      LAMBDA part: NOT regexp_full_match(
        words_of(part),
        '((agent|tool|function)_?)?'
        '(call|execute|execution|executor|invoke|loop|run|session|tool|use)?(_?(agent|tool))?'
      )
    ),
    ' '
  ),
  ''
);

-- Attributes by possible role; if several have one role, the first by rank, then the shortest
-- name.
CREATE OR REPLACE TEMP TABLE unknown_shapes AS
WITH names AS (
  SELECT
    shapes.shape,
    unnest(shapes.names) AS name,
    generate_subscripts(shapes.names, 1) AS position
  FROM shapes
  SEMI JOIN bucket_spans USING (shape)
),

roles AS (
  SELECT
    names.shape,
    fields.role,
    arg_min(
      struct_pack(name := names.name, is_of_model := fields.is_of_model),
      (fields.rank, length(names.name), names.name)
    ) AS chosen,
    list(names.name ORDER BY names.position) AS names
  FROM names
  INNER JOIN unknown_fields AS fields USING (name)
  GROUP BY names.shape, fields.role
)

SELECT
  shape,
  map_from_entries(list((role, chosen.name))) AS names,
  any_value(names) FILTER (WHERE role = 'kind') AS kinds,
  bool_or(role = 'foreign') AS is_foreign,
  bool_or(chosen.is_of_model) AS names_model,
  bool_or(role IN ('input', 'output', 'agent_name')) AS may_be_root
FROM roles
GROUP BY shape;

CREATE OR REPLACE TEMP TABLE unknown_guesses AS
WITH named AS (
  SELECT
    name,
    kind_of_name(words_of(name)) AS kind
  FROM bucket_spans
  GROUP BY name
),

placed AS (
  SELECT
    bucket_spans.key,
    bucket_spans.trace_id,
    bucket_spans.parent_span_id,
    list_transform(unknown_shapes.kinds, LAMBDA name: bucket_spans.attributes[name]) AS kinds,
    bucket_spans.attributes[unknown_shapes.names['tool_name']] AS tool_name,
    coalesce(unknown_shapes.names_model, FALSE) AS names_model,
    coalesce(unknown_shapes.may_be_root, FALSE) AS may_be_root,
    coalesce(unknown_shapes.is_foreign, FALSE) AS is_foreign,
    coalesce(named.kind, '') AS named_kind
  FROM bucket_spans
  LEFT JOIN unknown_shapes USING (shape)
  LEFT JOIN named USING (name)
),

stated_kinds AS (
  SELECT
    kinds,
    list_filter(
      list_transform(kinds, LAMBDA kind: kind_of(words_of(kind))), LAMBDA kind: kind IS NOT NULL
    )[1] AS stated_kind
  FROM placed
  GROUP BY kinds
),

read AS (
  SELECT
    placed.*,
    stated_kinds.stated_kind,
    regexp_full_match(placed.tool_name, '[A-Za-z_][\w.:/ -]{0,127}')
    AND placed.tool_name NOT IN ('auto', 'false', 'none', 'null', 'required', 'true') AS names_tool
  FROM placed
  LEFT JOIN stated_kinds ON placed.kinds = stated_kinds.kinds
)

SELECT
  key,
  trace_id,
  parent_span_id,
  CASE
    WHEN stated_kind IS NOT NULL THEN stated_kind
    WHEN names_model AND named_kind = 'agent' THEN 'agent'
    WHEN names_model AND named_kind <> 'other' THEN 'model'
    WHEN names_tool THEN 'tool'
  END AS kind_by_attributes,
  coalesce(kind_by_attributes, if(is_foreign, NULL, nullif(nullif(named_kind, 'other'), '')))
    AS kind,
  may_be_root AND NOT is_foreign AND parent_span_id IS NULL AS may_be_root
FROM read;

CREATE OR REPLACE TEMP TABLE unknown_spans AS
WITH known AS (
  SELECT
    all_spans.trace_id,
    list(DISTINCT dialect_operations.operation) AS kinds
  FROM all_spans
  INNER JOIN dialect_operations USING (key)
  WHERE
    dialect_operations.operation <> 'other'
    AND all_spans.trace_id IN (
      SELECT unknown_guesses.trace_id FROM unknown_guesses
      WHERE unknown_guesses.kind IS NOT NULL OR unknown_guesses.parent_span_id IS NULL
    )
  GROUP BY all_spans.trace_id
),

traces AS (
  SELECT
    guesses.trace_id,
    coalesce(any_value(known.kinds), []) AS known_kinds,
    bool_or(guesses.kind = 'agent') IS TRUE OR list_contains(known_kinds, 'agent') AS has_agent
  FROM unknown_guesses AS guesses
  LEFT JOIN known USING (trace_id)
  GROUP BY guesses.trace_id
  HAVING
    len(known_kinds) > 0
    OR count(guesses.kind_by_attributes) > 0
    OR count(DISTINCT guesses.kind) > 1
),

-- Traces with one root.
rooted AS (
  SELECT all_spans.trace_id
  FROM all_spans
  SEMI JOIN traces USING (trace_id)
  WHERE all_spans.parent_span_id IS NULL
  GROUP BY all_spans.trace_id
  HAVING count(*) = 1
),

chosen AS (
  SELECT
    guesses.key,
    guesses.kind,
    bucket_spans.name,
    bucket_spans.attributes,
    unknown_shapes.names
  FROM unknown_guesses AS guesses
  INNER JOIN traces USING (trace_id)
  INNER JOIN bucket_spans ON guesses.key = bucket_spans.key
  LEFT JOIN unknown_shapes ON bucket_spans.shape = unknown_shapes.shape
  LEFT JOIN rooted ON guesses.trace_id = rooted.trace_id
  WHERE
    (guesses.kind IS NOT NULL AND NOT list_contains(traces.known_kinds, guesses.kind))
    OR (
      guesses.kind IS NULL
      AND guesses.may_be_root
      AND rooted.trace_id IS NOT NULL
      AND NOT traces.has_agent
    )
)

SELECT
  key,
  kind,
  coalesce(kind, 'agent') AS operation,
  name,
  attributes,
  map_from_entries(
    list_transform(
      map_entries(names), LAMBDA entry: { 'key': entry.key, 'value': attributes[entry.value] }
    )
  ) AS values,
  function_input(values['input']) AS input
FROM chosen;

CREATE OR REPLACE TEMP VIEW unknown_texts AS
SELECT
  key,
  'in' AS direction,
  0 AS position,
  'user' AS role,
  -- The argument of an agent with a single argument.
  if(
    operation = 'agent' AND len(json_keys(try_cast(input AS JSON))) = 1,
    (try_cast(input AS JSON) ->> '$.*')[1],
    nullif(input, '{}')
  ) AS text
FROM unknown_spans
WHERE operation <> 'tool'
UNION ALL
SELECT
  key,
  'out' AS direction,
  0 AS position,
  'assistant' AS role,
  values['output'] AS text
FROM unknown_spans
WHERE operation <> 'tool';

CREATE OR REPLACE TEMP VIEW unknown_chat AS
SELECT
  key,
  direction,
  message_position,
  message
FROM history_chat('unknown_texts')
UNION ALL BY NAME
SELECT
  key,
  'out' AS direction,
  position_gap() AS message_position,
  json_object('role', 'assistant', 'tool_calls', try_cast(values['tool_calls'] AS JSON)) AS message
FROM unknown_spans
WHERE operation = 'model' AND values['tool_calls'] IS NOT NULL;

CREATE OR REPLACE TEMP TABLE unknown_messages AS
FROM chat_parts('unknown_chat');

CREATE OR REPLACE TEMP TABLE unknown_last_texts AS
FROM last_texts('unknown_messages');

-- Arguments with an attribute for each.
CREATE OR REPLACE TEMP TABLE unknown_spread AS
WITH entries AS (
  SELECT
    key,
    unnest(map_entries(attributes)) AS entry
  FROM unknown_spans
  WHERE operation = 'tool' AND input IS NULL
),

arguments AS (
  SELECT
    key,
    regexp_extract(
      entry.key, '(?i)(?:^|[._])(?:args|arguments|params|parameters|inputs?)\.(.+)$', 1
    ) AS name,
    min(entry.value) AS value
  FROM entries
  GROUP BY ALL
)

SELECT
  key,
  json_group_object(name, coalesce(try_cast(value AS JSON), to_json(value)))::VARCHAR AS arguments
FROM arguments
WHERE name <> ''
GROUP BY key;

CREATE OR REPLACE TEMP VIEW unknown_operations AS
WITH spans AS (
  SELECT
    unknown_spans.*,
    unknown_last_texts.user_input,
    unknown_last_texts.answer,
    unknown_spread.arguments
  FROM unknown_spans
  LEFT JOIN unknown_last_texts USING (key)
  LEFT JOIN unknown_spread USING (key)
)

SELECT
  key,
  operation,
  values['agent_name'] AS agent_name,
  if(kind = 'agent', own_name(name), NULL) AS agent_label,
  if(
    operation = 'tool',
    coalesce(values['tool_name'], values['function_name'], own_name(name)),
    NULL
  ) AS tool_name,
  values['call_id'] AS call_id,
  if(operation = 'tool', coalesce(input, arguments), NULL) AS arguments,
  if(operation = 'tool', result_text(values['output']), NULL) AS result,
  if(operation = 'tool', NULL, user_input) AS user_input,
  if(operation = 'agent', answer, NULL) AS answer,
  operation = 'tool'
  AND (
    coalesce(values['is_error'] = 'true', FALSE)
    OR coalesce(lower(values['status']) IN ('error', 'failed', 'failure', 'false'), FALSE)
  ) AS failed,
  nullif(values['error_message'], 'false') AS error_message,
  if(operation = 'model', values['model'], NULL) AS model,
  if(operation = 'model', try_cast(values['input_tokens'] AS BIGINT), NULL) AS input_tokens,
  if(operation = 'model', try_cast(values['output_tokens'] AS BIGINT), NULL) AS output_tokens,
  if(operation = 'model', try_cast(values['cached'] AS BIGINT), NULL) AS cache_read_tokens,
  if(operation = 'model', try_cast(values['written'] AS BIGINT), NULL) AS cache_write_tokens,
  if(operation = 'model', try_cast(values['reasoning'] AS BIGINT), NULL) AS reasoning_tokens,
  if(operation = 'model', try_cast(values['total'] AS BIGINT), NULL) AS total_tokens,
  if(operation = 'model', try_cast(values['cost'] AS DOUBLE), NULL) AS stated_usd,
  if(operation = 'tool', NULL, values['offered_tools']) AS offered_tools,
  values['conversation_id'] AS conversation_id
FROM spans;
