-- Span ids of the bucket that arrived more than once, with the row of each that counts.
--
-- An exporter may send a span when it starts and again when it ends, and after a retry the first
-- version may arrive last. So a version with an end counts before one without, then the last
-- received.
--
-- Reads:
--   spans
--   bucket_traces
-- Columns:
--   trace_id  VARCHAR  One row for each trace_id and span_id.
--   span_id   VARCHAR
--   newest    BLOB     As in span_version.
-- Order:
--   none
WITH repeated AS (
  SELECT
    spans.trace_id,
    spans.span_id
  FROM spans
  SEMI JOIN bucket_traces USING (trace_id)
  GROUP BY spans.trace_id, spans.span_id
  HAVING count(*) > 1
)

SELECT
  spans.trace_id,
  spans.span_id,
  max(
    span_version(
      spans.start_ns, spans.end_ns, spans.received_ns, spans.wal_seq, spans.content_hash
    )
  ) AS newest
FROM spans
INNER JOIN repeated USING (trace_id, span_id)
GROUP BY spans.trace_id, spans.span_id;
