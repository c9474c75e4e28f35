-- What the spans of each shape have in common.
--
-- Reads:
--   bucket_spans
--   span_shapes
-- Columns:
--   shape       UBIGINT    One row each.
--   scope_name  VARCHAR    '' if none was sent.
--   names       VARCHAR[]  Of their attributes, in the order in which they were sent.
-- Order:
--   none
WITH samples AS (
  SELECT
    shape,
    min(key) AS key
  FROM span_shapes
  GROUP BY shape
)

SELECT
  samples.shape,
  coalesce(bucket_spans.scope_name, '') AS scope_name,
  map_keys(bucket_spans.attributes) AS names
FROM samples
INNER JOIN bucket_spans USING (key);
