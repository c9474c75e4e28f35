-- Receipts of each trace: dates, times and counts of its spans and log records.
--
-- Scores that were sent out and came back are left out.
--
-- Reads:
--   spans
--   logs
--   watermarks
-- Columns:
--   trace_id    VARCHAR  One row each.
--   first_date  DATE     Date its first span was received, UTC; NULL if it has none.
--   last_date   DATE     Date the last of its spans and log records was received, UTC.
--   spans       BIGINT   All its spans.
--   records     BIGINT   All its spans and log records.
--   imported    BOOLEAN  All its spans were imported; NULL if it has none.
--   first_ns    BIGINT   Receipt time of the first of its spans and log records.
--   last_ns     BIGINT   Receipt time of the last of them.
--   new         BIGINT   Its spans and log records past their watermarks.
-- Order:
--   none
WITH span_counts AS (
  SELECT
    spans.trace_id,
    min(spans.date) AS first_date,
    max(spans.date) AS last_date,
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
    max(logs.date) AS last_date,
    count(*) AS records,
    min(logs.received_ns) AS first_ns,
    max(logs.received_ns) AS last_ns,
    count(*) FILTER (WHERE logs.wal_seq > coalesce(watermarks.wal_seq, -1)) AS new
  FROM logs
  LEFT JOIN watermarks
    ON watermarks.signal = 'logs' AND logs.collector_id = watermarks.collector_id
  WHERE
    logs.trace_id IS NOT NULL
    AND logs.scope_name IS DISTINCT FROM 'tracegrade.scoring'
  GROUP BY logs.trace_id
)

SELECT
  coalesce(span_counts.trace_id, log_counts.trace_id) AS trace_id,
  span_counts.first_date,
  greatest(span_counts.last_date, log_counts.last_date) AS last_date,
  coalesce(span_counts.spans, 0) AS spans,
  coalesce(span_counts.spans, 0) + coalesce(log_counts.records, 0) AS records,
  span_counts.imported,
  least(span_counts.first_ns, log_counts.first_ns) AS first_ns,
  greatest(span_counts.last_ns, log_counts.last_ns) AS last_ns,
  coalesce(span_counts.new, 0) + coalesce(log_counts.new, 0) AS new
FROM span_counts
FULL JOIN log_counts ON span_counts.trace_id = log_counts.trace_id;
