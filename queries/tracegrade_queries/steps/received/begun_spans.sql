-- Spans of the traces of this bucket, including spans that have begun but not arrived.
--
-- A note that a span has begun represents the span until the span arrives.
--
-- Reads:
--   pending_spans
--   span_rows
-- Takes:
--   distinct_spans
-- Needs:
--   pending_spans
-- Order:
--   none
DELETE FROM span_rows
WHERE key IN (
  SELECT key
  FROM pending_spans
  WHERE is_superseded
);

UPDATE span_rows SET
  span_id = pending_spans.span_id,
  parent_span_id = pending_spans.parent_span_id,
  is_local_root = pending_spans.parent_span_id IS NULL,
  ended = FALSE
FROM pending_spans
WHERE span_rows.key = pending_spans.key;
