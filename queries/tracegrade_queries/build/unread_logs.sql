-- Log records that were not read, since no span of their trace arrived, by event name.
--
-- They are read later if spans of their trace arrive.
--
-- Reads:
--   new_logs
--   trace_receipts
-- Columns:
--   event_name  VARCHAR  '' if none was sent. One row each.
--   records     BIGINT   At least 1.
--   traces      BIGINT   Traces that they name.
-- Order:
--   none
SELECT
  new_logs.event_name,
  sum(new_logs.records)::BIGINT AS records,
  count(DISTINCT new_logs.trace_id) AS traces
FROM new_logs
LEFT JOIN trace_receipts ON new_logs.trace_id = trace_receipts.trace_id
WHERE coalesce(trace_receipts.spans, 0) = 0
GROUP BY new_logs.event_name;
