-- Rows of sent_spans beyond the first of a span id: equal spans of one request.
--
-- Reads:
--   sent_spans
--   repeated_spans
-- Needs:
--   repeated_spans
-- Columns:
--   key  BIGINT
-- Order:
--   none
SELECT sent_spans.key
FROM sent_spans
SEMI JOIN repeated_spans USING (trace_id, span_id)
QUALIFY
  row_number() OVER (
    PARTITION BY sent_spans.trace_id, sent_spans.span_id ORDER BY sent_spans.key
  ) > 1;
