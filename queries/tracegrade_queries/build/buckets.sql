-- The bucket in which each affected trace is built.
--
-- A bucket holds traces that arrived one after the other, so that its rows are close together in
-- the files. Traces that arrived over more than an hour come last, since each of them makes its
-- bucket read more.
--
-- Reads:
--   weighed_traces
-- Parameters:
--   bucket_weight  BIGINT  Target for the summed weight of a bucket's traces.
-- Columns:
--   trace_id     VARCHAR  One row each.
--   date         DATE     Date the trace's first span was received, UTC.
--   first_ns     BIGINT   Receipt time of its first row.
--   received_ns  BIGINT   Receipt time of its last row.
--   records      BIGINT   All its spans and log records.
--   imported     BOOLEAN  All its spans were imported.
--   bucket       BIGINT   From 0.
-- Order:
--   none
SELECT
  trace_id,
  date,
  first_ns,
  last_ns AS received_ns,
  records,
  imported,
  (
    sum(weight) OVER (
      ORDER BY last_ns - first_ns > 3_600_000_000_000, first_ns, trace_id
      ROWS UNBOUNDED PRECEDING
    ) - weight
  )::BIGINT // $bucket_weight AS bucket
FROM weighed_traces;
