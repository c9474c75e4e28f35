-- Traces that have spans or log records past the watermarks.
--
-- Scores that were sent out of a lake and came back as log records do not count as new. Otherwise
-- the build that they cause would send them out again, without end.
--
-- Reads:
--   spans
--   logs
--   watermarks
-- Columns:
--   trace_id  VARCHAR  One row each.
-- Order:
--   none
SELECT spans.trace_id
FROM spans
LEFT JOIN watermarks
  ON watermarks.signal = 'traces' AND spans.collector_id = watermarks.collector_id
WHERE spans.wal_seq > coalesce(watermarks.wal_seq, -1)
UNION
SELECT logs.trace_id
FROM logs
LEFT JOIN watermarks
  ON watermarks.signal = 'logs' AND logs.collector_id = watermarks.collector_id
WHERE
  logs.wal_seq > coalesce(watermarks.wal_seq, -1)
  AND logs.trace_id IS NOT NULL
  AND logs.scope_name IS DISTINCT FROM 'tracegrade.scoring';
