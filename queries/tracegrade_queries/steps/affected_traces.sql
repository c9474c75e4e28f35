-- Traces that have spans, or log records beside their spans, past the watermarks.
--
-- A log record whose trace has no span yet is built when the first one arrives.
--
-- Reads:
--   spans
--   logs
--   watermarks
-- Columns:
--   trace_id  VARCHAR  One row each.
--   date      DATE     Date the trace's first span was received, UTC.
--   spans     BIGINT   All its spans.
--   new       BIGINT   Its spans and log records past their watermarks; at least 1.
-- Order:
--   none
WITH span_counts AS (
  SELECT
    spans.trace_id,
    min(spans.date) AS date,
    count(*) AS spans,
    count(*) FILTER (WHERE spans.wal_seq > coalesce(watermarks.wal_seq, -1)) AS new
  FROM spans
  LEFT JOIN watermarks
    ON watermarks.signal = 'traces' AND spans.collector_id = watermarks.collector_id
  GROUP BY spans.trace_id
),

log_counts AS (
  SELECT
    logs.trace_id,
    count(*) AS new
  FROM logs
  LEFT JOIN watermarks
    ON watermarks.signal = 'logs' AND logs.collector_id = watermarks.collector_id
  WHERE logs.trace_id IS NOT NULL AND logs.wal_seq > coalesce(watermarks.wal_seq, -1)
  GROUP BY logs.trace_id
)

SELECT
  span_counts.trace_id,
  span_counts.date,
  span_counts.spans,
  span_counts.new + coalesce(log_counts.new, 0) AS new
FROM span_counts
LEFT JOIN log_counts USING (trace_id)
WHERE span_counts.new + coalesce(log_counts.new, 0) > 0;
