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

told AS (
  SELECT
    shape,
    bool_or(starts_with(name, 'llm.input_messages.')) AS heard,
    bool_or(starts_with(name, 'llm.output_messages.')) AS said
  FROM names
  GROUP BY shape
),

spans AS (
  SELECT
    bucket_spans.key,
    bucket_spans.attributes,
    told.heard AS tells_heard,
    -- What the Agents SDK answered is read above; a call that failed tells of its error.
    told.said
    OR bucket_spans.failed
    OR bucket_spans.scope_name = 'openinference.instrumentation.openai_agents' AS tells_said
  FROM bucket_spans
  INNER JOIN told USING (shape)
  WHERE
    bucket_spans.attributes['openinference.span.kind'] = 'LLM'
    AND bucket_spans.attributes['mastra.span.type'] IS NULL
)

SELECT
  key,
  CASE WHEN NOT tells_heard THEN nullif(attributes['input.value'], '__REDACTED__') END AS heard,
  CASE WHEN NOT tells_said THEN nullif(attributes['output.value'], '__REDACTED__') END AS said,
  try_cast(said AS JSON) AS answer
FROM spans
WHERE NOT (tells_heard AND tells_said);
