-- Span ids of the bucket that arrived more than once, with the row of each that counts.
--
-- An exporter may send a span when it starts and again when it ends: the last received counts.
--
-- Reads:
--   spans
--   bucket_traces
-- Columns:
--   trace_id  VARCHAR  One row for each trace_id and span_id.
--   span_id   VARCHAR
--   newest    STRUCT(received_ns BIGINT, wal_seq BIGINT, end_ns BIGINT, content_hash VARCHAR)
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
    {
      'received_ns': spans.received_ns,
      'wal_seq': spans.wal_seq,
      'end_ns': coalesce(spans.end_ns, 0),
      'content_hash': spans.content_hash
    }
  ) AS newest
FROM spans
INNER JOIN repeated USING (trace_id, span_id)
GROUP BY spans.trace_id, spans.span_id;
