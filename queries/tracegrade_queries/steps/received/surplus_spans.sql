-- Rows of sent_spans beyond the first of a span id: equal spans of one request.
--
-- Reads:
--   sent_spans
--   spans_received_twice
-- Needs:
--   spans_received_twice
-- Columns:
--   key  BIGINT
-- Order:
--   none
SELECT sent_spans.key
FROM sent_spans
SEMI JOIN spans_received_twice USING (trace_id, span_id)
QUALIFY
  row_number() OVER (
    PARTITION BY sent_spans.trace_id, sent_spans.span_id ORDER BY sent_spans.key
  ) > 1;
