-- Log records past the watermarks, by their event and trace; without scores that came back.
--
-- Reads:
--   logs
--   watermarks
-- Columns:
--   trace_id    VARCHAR  NULL if they name none. One row for each trace_id and event_name.
--   event_name  VARCHAR  '' if none was sent.
--   records     BIGINT   At least 1.
-- Order:
--   none
SELECT
  logs.trace_id,
  coalesce(nullif(logs.event_name, ''), logs.attributes['event.name'], '') AS event_name,
  count(*) AS records
FROM logs
LEFT JOIN watermarks
  ON watermarks.signal = 'logs' AND logs.collector_id = watermarks.collector_id
WHERE
  logs.wal_seq > coalesce(watermarks.wal_seq, -1)
  AND logs.scope_name IS DISTINCT FROM 'tracegrade.scoring'
GROUP BY ALL;
