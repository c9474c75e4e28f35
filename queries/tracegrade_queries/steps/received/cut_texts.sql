-- Attributes that hold JSON which starts and does not end: the exporter cut them.
--
-- Results are left out: a cut text is the captured part of them.
--
-- Reads:
--   mended_spans
--   shapes
-- Columns:
--   key   BIGINT   Key of the span in bucket_spans.
--   name  VARCHAR  Name of the attribute.
--   text  VARCHAR
-- Order:
--   none
WITH cut_positions AS (
  SELECT
    shape,
    list_filter(
      generate_series(1, len(names)),
      LAMBDA position:
      regexp_matches(
        names[position],
        '(messages|arguments|args|definitions|prompt|completion|llm_request|llm_response'
        '|request_data|response_data|events|toolCalls|entity\.input)$'
      )
    ) AS positions
  FROM shapes
),

entries AS (
  SELECT
    mended_spans.key,
    unnest(list_select(map_keys(mended_spans.attributes), cut_positions.positions)) AS name,
    unnest(list_select(map_values(mended_spans.attributes), cut_positions.positions)) AS text
  FROM mended_spans
  INNER JOIN cut_positions USING (shape)
  WHERE len(cut_positions.positions) > 0
)

SELECT
  key,
  name,
  text
FROM entries
WHERE
  (starts_with(text, '[') OR starts_with(text, '{'))
  AND NOT (ends_with(text, ']') OR ends_with(text, '}'));
