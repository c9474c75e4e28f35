-- Which bucket each affected trace is built in.
--
-- A bucket holds traces that arrived one after the other, so that its rows lie close together;
-- traces that arrived over more than an hour come last, since each makes its bucket read more.
--
-- Reads:
--   weighed_traces
-- Parameters:
--   bucket_weight  BIGINT  What the traces of one bucket aim at together.
-- Columns:
--   trace_id     VARCHAR  One row each.
--   date         DATE     Date the trace's first span was received, UTC.
--   first_ns     BIGINT   When its first row was received.
--   received_ns  BIGINT   When its last row was received.
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
