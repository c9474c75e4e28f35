-- Spans that each dialect may know: one of its marks is their scope's name, that of an attribute,
-- or that of an event beside them.
--
-- Reads:
--   bucket_events
--   bucket_spans
--   marks
--   shapes
-- Columns:
--   dialect  VARCHAR  One row for each dialect and key.
--   key      BIGINT   Of the span in bucket_spans.
-- Order:
--   none
WITH shape_names AS (
  SELECT
    shape,
    unnest(list_append(names, scope_name)) AS name
  FROM shapes
),

marked_shapes AS (
  SELECT DISTINCT
    marks.dialect,
    shape_names.shape
  FROM shape_names
  INNER JOIN marks ON regexp_matches(shape_names.name, marks.mark)
),

event_names AS (
  SELECT DISTINCT name
  FROM bucket_events
),

marked_events AS (
  SELECT
    marks.dialect,
    event_names.name
  FROM event_names
  INNER JOIN marks ON regexp_matches(event_names.name, marks.mark)
)

SELECT
  marked_shapes.dialect,
  bucket_spans.key
FROM bucket_spans
INNER JOIN marked_shapes USING (shape)
UNION
SELECT
  marked_events.dialect,
  bucket_events.key
FROM bucket_events
INNER JOIN marked_events USING (name);
