-- SDKs with a kind, one input and one output per span: Langfuse, MLflow, Braintrust, Genkit.
--
-- Others give only the kind, as `gen_ai.span.kind`.
--
-- Rank:
--   110
-- Marks:
--   ^(langfuse\.observation|mlflow|braintrust)\.
--   ^genkit:
--   ^gen_ai\.span\.kind$
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE platforms_spans AS
WITH inputs_outputs AS (
  SELECT
    key,
    name,
    attributes,
    lower(
      coalesce(
        attributes['langfuse.observation.type'],
        try_cast(attributes['mlflow.spanType'] AS JSON) ->> '$',
        try_cast(attributes['braintrust.span_attributes'] AS JSON) ->> '$.type',
        attributes['genkit:metadata:subtype'],
        attributes['gen_ai.span.kind']
      )
    ) AS kind,
    coalesce(
      attributes['langfuse.observation.input'],
      attributes['mlflow.spanInputs'],
      attributes['braintrust.input_json'],
      attributes['genkit:input'],
      attributes['gen_ai.tool.call.arguments'],
      attributes['input.value']
    ) AS input,
    coalesce(
      attributes['langfuse.observation.output'],
      attributes['mlflow.spanOutputs'],
      attributes['braintrust.output_json'],
      nullif(attributes['genkit:output'], ''),
      attributes['gen_ai.tool.call.result'],
      attributes['output.value']
    ) AS output,
    try_cast(input AS JSON) AS input_value,
    try_cast(output AS JSON) AS output_value,
    try_cast(attributes['braintrust.metadata'] AS JSON) AS braintrust
  FROM bucket_spans
),

named AS (
  SELECT
    *,
    json_keys(input_value) = ['args', 'kwargs'] AS is_function,
    CASE
      WHEN kind IN ('generation', 'model', 'llm', 'chat_model') THEN 'model'
      WHEN kind IN ('tool', 'tool.v2') THEN 'tool'
      WHEN kind IN ('agent', 'flow') THEN 'agent'
      ELSE 'other'
    END AS operation
  FROM inputs_outputs
  WHERE kind IS NOT NULL
)

SELECT
  *,
  CASE
    WHEN is_function THEN (input_value ->> '$.args[*]') || (input_value ->> '$.kwargs.*')
    WHEN json_type(input_value) = 'OBJECT' THEN input_value ->> '$.*'
  END AS given,
  coalesce(
    try_cast(attributes['langfuse.observation.usage_details'] AS JSON),
    try_cast(attributes['mlflow.chat.tokenUsage'] AS JSON),
    try_cast(attributes['braintrust.metrics'] AS JSON),
    output_value -> '$.usage'
  ) AS usage
FROM named;

CREATE OR REPLACE TEMP VIEW platforms_texts AS
SELECT
  key,
  'in' AS direction,
  0 AS position,
  'user' AS role,
  input AS text
FROM platforms_spans
WHERE operation = 'model'
UNION ALL
SELECT
  key,
  'out' AS direction,
  0 AS position,
  'assistant' AS role,
  output AS text
FROM platforms_spans
WHERE operation = 'model';

CREATE OR REPLACE TEMP TABLE platforms_chat AS
FROM history_chat('platforms_texts');

CREATE OR REPLACE TEMP TABLE platforms_messages AS
FROM chat_parts('platforms_chat');

CREATE OR REPLACE TEMP VIEW platforms_operations AS
SELECT
  key,
  operation,
  CASE
    WHEN operation = 'agent' THEN coalesce(attributes['genkit:name'], name)
  END AS agent_label,
  CASE
    WHEN operation = 'tool'
      THEN coalesce(attributes['genkit:name'], attributes['gen_ai.tool.name'], name)
  END AS tool_name,
  attributes['gen_ai.tool.call.id'] AS call_id,
  CASE
    WHEN operation <> 'tool' THEN NULL
    -- Arguments of a decorated function.
    WHEN is_function AND input_value ->> '$.args' = '[]'
      THEN input_value ->> '$.kwargs'
    ELSE input
  END AS arguments,
  CASE WHEN operation = 'tool' THEN result_text(output) END AS result,
  -- The argument of an agent with a single argument.
  CASE
    WHEN operation <> 'agent' THEN NULL
    WHEN len(given) = 1 THEN given[1]
    ELSE result_text(input)
  END AS user_input,
  CASE WHEN operation = 'agent' THEN result_text(output) END AS answer,
  coalesce(
    attributes['langfuse.observation.level'] = 'ERROR' OR attributes['genkit:state'] = 'error',
    FALSE
  ) AS failed,
  attributes['langfuse.observation.status_message'] AS error_message,
  CASE
    WHEN operation = 'model'
      THEN coalesce(
        attributes['langfuse.observation.model.name'],
        try_cast(attributes['mlflow.llm.model'] AS JSON) ->> '$',
        braintrust ->> '$.model',
        attributes['genkit:name']
      )
  END AS model,
  unnest(reported_usage(usage)),  -- noqa: AL03
  CASE
    WHEN operation = 'model'
      THEN coalesce(
        attributes['mlflow.chat.tools'], input_value ->> '$.tools', braintrust ->> '$.tools'
      )
  END AS offered_tools,
  coalesce(
    attributes['session.id'], attributes['gen_ai.session.id'], attributes['genkit:sessionId']
  ) AS conversation_id
FROM platforms_spans;
