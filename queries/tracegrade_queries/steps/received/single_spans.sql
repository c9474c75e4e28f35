-- Spans of the traces of this bucket, without copies.
--
-- Children of a copy become children of the span that counts.
--
-- Reads:
--   spans_exported_twice
--   span_rows
-- Takes:
--   begun_spans
-- Needs:
--   spans_exported_twice
-- Order:
--   none
DELETE FROM span_rows
WHERE key IN (SELECT key FROM spans_exported_twice);

UPDATE span_rows SET parent_span_id = spans_exported_twice.counted_span_id
FROM spans_exported_twice
WHERE
  span_rows.trace_id = spans_exported_twice.trace_id
  AND span_rows.parent_span_id = spans_exported_twice.span_id;

UPDATE span_rows SET linked_span_id = spans_exported_twice.counted_span_id
FROM spans_exported_twice
WHERE
  span_rows.trace_id = spans_exported_twice.trace_id
  AND span_rows.linked_span_id = spans_exported_twice.span_id;
