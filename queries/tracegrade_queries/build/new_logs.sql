-- Log records past the watermarks, by their event and trace; without scores that came back.
--
-- Reads:
--   logs
--   watermarks
-- Columns:
--   trace_id    VARCHAR  NULL if they name none; of coding agents, that of the spans that were
--                        made of them. One row for each trace_id and event_name.
--   event_name  VARCHAR  '' if none was sent.
--   records     BIGINT   At least 1.
-- Order:
--   none
SELECT
  coalesce(
    logs.trace_id,
    -- As `encoding/agent_records.py` in the collector.
    CASE
      WHEN starts_with(logs.attributes['event.name'], 'codex.')
        THEN md5('codex.' || logs.attributes['conversation.id'])
      WHEN logs.scope_name = 'gemini-cli'
        THEN md5('gemini_cli.' || logs.attributes['session.id'])
    END
  ) AS trace_id,
  -- Codex names the place in its code as the event.
  coalesce(logs.attributes['event.name'], nullif(logs.event_name, ''), '') AS event_name,
  count(*) AS records
FROM logs
LEFT JOIN watermarks
  ON watermarks.signal = 'logs' AND logs.collector_id = watermarks.collector_id
WHERE
  logs.wal_seq > coalesce(watermarks.wal_seq, -1)
  AND logs.scope_name IS DISTINCT FROM 'tracegrade.scoring'
GROUP BY ALL;
