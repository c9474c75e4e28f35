-- Traces that have spans past the watermarks, with all their spans counted.
--
-- Reads:
--   spans
--   watermarks
-- Columns:
--   trace_id  VARCHAR  One row each.
--   date      DATE     Date the trace was first received, UTC.
--   spans     BIGINT   All its spans.
--   new       BIGINT   Its spans past the watermark of their collector; at least 1.
-- Order:
--   none
SELECT
  spans.trace_id,
  min(spans.date) AS date,
  count(*) AS spans,
  count(*) FILTER (WHERE spans.wal_seq > coalesce(watermarks.wal_seq, -1)) AS new
FROM spans
LEFT JOIN watermarks USING (collector_id)
GROUP BY spans.trace_id
HAVING new > 0;
