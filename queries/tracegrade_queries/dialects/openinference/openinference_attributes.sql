-- The whole input and output of model calls, where no key tells a message.
--
-- Reads:
--   bucket_spans
--   shapes
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE openinference_attributes AS
WITH names AS (
  SELECT
    shape,
    unnest(names) AS name
  FROM shapes
),

inputs_outputs AS (
  SELECT
    shape,
    bool_or(starts_with(name, 'llm.input_messages.')) AS has_input,
    bool_or(starts_with(name, 'llm.output_messages.')) AS has_output
  FROM names
  GROUP BY shape
),

spans AS (
  SELECT
    bucket_spans.key,
    bucket_spans.attributes,
    inputs_outputs.has_input,
    -- The Agents SDK's answer is read above; the output of a failed call is its error.
    inputs_outputs.has_output
    OR bucket_spans.failed
    OR bucket_spans.scope_name = 'openinference.instrumentation.openai_agents' AS has_output
  FROM bucket_spans
  INNER JOIN inputs_outputs USING (shape)
  WHERE
    bucket_spans.attributes['openinference.span.kind'] = 'LLM'
    AND bucket_spans.attributes['mastra.span.type'] IS NULL
)

SELECT
  key,
  CASE
    WHEN NOT has_input THEN nullif(attributes['input.value'], '__REDACTED__')
  END AS input_value,
  CASE
    WHEN NOT has_output THEN nullif(attributes['output.value'], '__REDACTED__')
  END AS output_value,
  try_cast(output_value AS JSON) AS answer
FROM spans
WHERE NOT (has_input AND has_output);
