-- Spans of the traces of this bucket, after the dialects have read them: without attributes.
--
-- Attributes take most of the memory of a bucket, and the steps need it afterwards. Under this
-- name, a dialect reads its own spans, with attributes. The columns are those of sent_spans.
--
-- Reads:
--   span_rows
-- Takes:
--   all_spans
-- Order:
--   none
ALTER TABLE span_rows DROP attributes;

ALTER TABLE span_rows ADD attributes MAP (VARCHAR, VARCHAR);
