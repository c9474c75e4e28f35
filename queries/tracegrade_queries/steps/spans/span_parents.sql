-- The parent of each span whose parent arrived.
--
-- Reads:
--   bucket_spans
-- Columns:
--   key     BIGINT   Span whose parent is in the bucket; one row each.
--   next    BIGINT   Key of the parent.
--   rises   BOOLEAN  The parent starts before it; each cycle has an edge for which this is false.
-- Order:
--   none
SELECT
  child.key,
  parent.key AS next,
  (parent.start_ns, parent.span_id) < (child.start_ns, child.span_id) AS rises
FROM bucket_spans AS child
INNER JOIN bucket_spans AS parent
  ON child.trace_id = parent.trace_id AND child.parent_span_id = parent.span_id;
