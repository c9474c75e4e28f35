-- Chosen traces, as the pass over spans wants them.
--
-- Reads:
--   chosen_traces
--   spans
-- Columns:
--   trace_id     VARCHAR  One row each.
--   date         DATE     Date its first span was received, UTC.
--   records      BIGINT   Its spans.
--   received_ns  BIGINT   When its last span was received.
--   imported     BOOLEAN  All its spans were imported.
-- Order:
--   none
SELECT
  spans.trace_id,
  min(spans.date) AS date,
  count(*) AS records,
  max(spans.received_ns) AS received_ns,
  bool_and(spans.collector_id = 'import') AS imported
FROM spans
SEMI JOIN chosen_traces USING (trace_id)
GROUP BY spans.trace_id;
