-- Spans of the traces of this bucket, each of them once.
--
-- Reads:
--   span_rows
--   surplus_spans
-- Takes:
--   sent_spans
-- Needs:
--   surplus_spans
-- Order:
--   none
DELETE FROM span_rows
WHERE key IN (SELECT key FROM surplus_spans);
