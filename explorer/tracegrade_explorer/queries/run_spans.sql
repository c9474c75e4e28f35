-- The spans of a run's trace as received; a span that was sent twice is there once.
--
-- Reads:
--   spans
-- Parameters:
--   $trace_id    VARCHAR  The trace.
--   $first_date  DATE     Date on which its first span was received.
--   $last_date   DATE     Date on which its last one was.
--   $rows        BIGINT   Spans at most.
-- Columns:
--   span_id         VARCHAR                One row each.
--   parent_span_id  VARCHAR                NULL at a root.
--   name            VARCHAR                As sent.
--   start_ns        BIGINT                 Nanoseconds since 1970, UTC.
--   end_ns          BIGINT                 Likewise.
--   status_code     INTEGER                0 unset, 1 ok, 2 error.
--   status_message  VARCHAR                NULL if none was sent.
--   scope_name      VARCHAR                The instrumentation; NULL if not sent.
--   service_name    VARCHAR                NULL if not sent.
--   attributes      MAP(VARCHAR, VARCHAR)  Values that are not texts are JSON.
--   total           BIGINT                 Spans of the trace.
-- Order:
--   start_ns, span_id
SELECT
  span_id,
  parent_span_id,
  name,
  start_ns,
  end_ns,
  status_code,
  status_message,
  scope_name,
  service_name,
  attributes,
  count(*) OVER () AS total
FROM spans
WHERE date BETWEEN $first_date AND $last_date AND trace_id = $trace_id
ORDER BY start_ns, span_id
LIMIT $rows;
