-- Spans that a dialect may recognize by an event of the span, whose name is one of its marks.
--
-- Reads:
--   bucket_events
--   marked_names
-- Columns:
--   dialect  VARCHAR  One row for each dialect and key.
--   key      BIGINT   Key of the span in bucket_spans.
-- Order:
--   none
SELECT DISTINCT
  marked_names.dialect,
  bucket_events.key
FROM bucket_events
INNER JOIN marked_names USING (name);
