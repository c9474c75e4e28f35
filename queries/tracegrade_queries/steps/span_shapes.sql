-- The shape of each span: a digest of its scope and of the names of its attributes.
--
-- Spans of one kind have one shape, so that names are looked at once for each shape.
--
-- Reads:
--   bucket_spans
-- Columns:
--   key    BIGINT   One row each.
--   shape  UBIGINT
-- Order:
--   none
SELECT
  key,
  hash(coalesce(scope_name, ''), map_keys(attributes)) AS shape
FROM bucket_spans;
