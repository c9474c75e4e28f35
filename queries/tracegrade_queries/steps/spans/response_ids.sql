-- Ids that providers gave to the responses of models.
--
-- Most instrumentations write them as an attribute of their own; OpenInference and MLflow keep the
-- response as JSON that begins with its id. Source: [OTel GenAI], `gen_ai.response.id`.
--
-- Reads:
--   mended_spans
--   shapes
-- Needs:
--   shapes WHERE list_has_any(names, ['gen_ai.response.id', 'ai.response.id', 'output.value',
--     'mlflow.spanOutputs'])
-- Columns:
--   key          BIGINT   Span; one row each.
--   response_id  VARCHAR  Also for spans that are not model calls but have such an attribute.
-- Order:
--   none
WITH telling AS (
  SELECT
    shape,
    list_filter(
      ['gen_ai.response.id', 'ai.response.id'], LAMBDA name: list_contains(names, name)
    )[1] AS stated_in,
    CASE
      WHEN
        list_contains(names, 'openinference.span.kind')
        OR list_contains(names, 'mlflow.spanOutputs')
        THEN list_filter(
          ['output.value', 'mlflow.spanOutputs'], LAMBDA name: list_contains(names, name)
        )[1]
    END AS printed_in
  FROM shapes
),

stated_ids AS (
  SELECT
    mended_spans.key,
    CASE
      WHEN telling.stated_in IS NOT NULL THEN mended_spans.attributes[telling.stated_in]
      ELSE regexp_extract(
        left(mended_spans.attributes[telling.printed_in], 200), '^\{\s*"id":\s*"([^"\\]+)"', 1
      )
    END AS response_id
  FROM mended_spans
  INNER JOIN telling USING (shape)
  WHERE telling.stated_in IS NOT NULL OR telling.printed_in IS NOT NULL
)

SELECT
  key,
  response_id
FROM stated_ids
WHERE response_id <> '';
