-- Rows of bucket_spans beyond the first of a span id: equal spans of one request.
--
-- Reads:
--   bucket_spans
--   repeated_spans
-- Needs:
--   repeated_spans
-- Columns:
--   key  BIGINT
-- Order:
--   none
SELECT bucket_spans.key
FROM bucket_spans
SEMI JOIN repeated_spans USING (trace_id, span_id)
QUALIFY
  row_number() OVER (
    PARTITION BY bucket_spans.trace_id, bucket_spans.span_id ORDER BY bucket_spans.key
  ) > 1;
