-- Spans that a dialect may know by an event beside them, whose name is one of its marks.
--
-- Reads:
--   bucket_events
--   marks
-- Columns:
--   dialect  VARCHAR  One row for each dialect and key.
--   key      BIGINT   Of the span in bucket_spans.
-- Order:
--   none
WITH names AS (
  SELECT DISTINCT name
  FROM bucket_events
),

marked AS (
  SELECT
    marks.dialect,
    names.name
  FROM names
  INNER JOIN marks ON regexp_matches(names.name, marks.mark)
)

SELECT DISTINCT
  marked.dialect,
  bucket_events.key
FROM bucket_events
INNER JOIN marked USING (name);
