-- What the spans of each shape have in common.
--
-- Spans of one kind have one shape, so that names are looked at once for each shape.
--
-- Reads:
--   bucket_spans
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
  FROM bucket_spans
  GROUP BY shape
)

SELECT
  samples.shape,
  coalesce(bucket_spans.scope_name, '') AS scope_name,
  map_keys(bucket_spans.attributes) AS names
FROM samples
INNER JOIN bucket_spans USING (key);
