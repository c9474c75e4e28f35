-- Parent edges of the traces in which a cycle is possible.
--
-- Reads:
--   bucket_spans
--   span_parents
-- Needs:
--   span_parents WHERE NOT rises
-- Columns:
--   key   BIGINT
--   next  BIGINT
-- Order:
--   none
WITH suspects AS (
  SELECT DISTINCT bucket_spans.trace_id
  FROM span_parents
  INNER JOIN bucket_spans USING (key)
  WHERE NOT span_parents.rises
)

SELECT
  span_parents.key,
  span_parents.next
FROM span_parents
INNER JOIN bucket_spans USING (key)
SEMI JOIN suspects USING (trace_id);
