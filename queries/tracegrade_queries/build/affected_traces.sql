-- Traces that have spans, or log records beside their spans, past the watermarks, and those whose
-- trajectories an earlier version built.
--
-- A log record whose trace has no span yet is built when the first one arrives.
--
-- Reads:
--   spans
--   logs
--   trajectories
--   watermarks
-- Columns:
--   trace_id  VARCHAR  One row each.
--   date      DATE     Date the trace's first span was received, UTC.
--   spans     BIGINT   All its spans.
--   records   BIGINT   All its spans and log records.
--   imported  BOOLEAN  All its spans were imported.
--   first_ns  BIGINT   When the first of its spans and log records was received.
--   last_ns   BIGINT   When the last of them was.
--   new       BIGINT   Its spans and log records past their watermarks.
-- Order:
--   none
WITH span_counts AS (
  SELECT
    spans.trace_id,
    min(spans.date) AS date,
    count(*) AS spans,
    bool_and(spans.collector_id = 'import') AS imported,
    min(spans.received_ns) AS first_ns,
    max(spans.received_ns) AS last_ns,
    count(*) FILTER (WHERE spans.wal_seq > coalesce(watermarks.wal_seq, -1)) AS new
  FROM spans
  LEFT JOIN watermarks
    ON watermarks.signal = 'traces' AND spans.collector_id = watermarks.collector_id
  GROUP BY spans.trace_id
),

log_counts AS (
  SELECT
    logs.trace_id,
    count(*) AS records,
    min(logs.received_ns) AS first_ns,
    max(logs.received_ns) AS last_ns,
    count(*) FILTER (WHERE logs.wal_seq > coalesce(watermarks.wal_seq, -1)) AS new
  FROM logs
  LEFT JOIN watermarks
    ON watermarks.signal = 'logs' AND logs.collector_id = watermarks.collector_id
  WHERE logs.trace_id IS NOT NULL
  GROUP BY logs.trace_id
),

outdated AS (
  SELECT trace_id
  FROM trajectories
  WHERE
    trace_records IS NULL
    OR (parent_trajectory_id IS NOT NULL AND parent_step IS NULL)
)

SELECT
  span_counts.trace_id,
  span_counts.date,
  span_counts.spans,
  span_counts.spans + coalesce(log_counts.records, 0) AS records,
  span_counts.imported,
  least(span_counts.first_ns, log_counts.first_ns) AS first_ns,
  greatest(span_counts.last_ns, log_counts.last_ns) AS last_ns,
  span_counts.new + coalesce(log_counts.new, 0) AS new
FROM span_counts
LEFT JOIN log_counts USING (trace_id)
WHERE
  span_counts.new + coalesce(log_counts.new, 0) > 0
  OR span_counts.trace_id IN (FROM outdated);
