-- Spans of the traces of this bucket, without copies.
--
-- What hangs below a copy hangs below the span that counts.
--
-- Reads:
--   copied_spans
--   span_rows
-- Takes:
--   begun_spans
-- Needs:
--   copied_spans
-- Order:
--   none
DELETE FROM span_rows
WHERE rowid IN (SELECT key FROM copied_spans);

UPDATE span_rows SET parent_span_id = copied_spans.counted_span_id
FROM copied_spans
WHERE
  span_rows.trace_id = copied_spans.trace_id
  AND span_rows.parent_span_id = copied_spans.span_id;

UPDATE span_rows SET linked_span_id = copied_spans.counted_span_id
FROM copied_spans
WHERE
  span_rows.trace_id = copied_spans.trace_id
  AND span_rows.linked_span_id = copied_spans.span_id;
