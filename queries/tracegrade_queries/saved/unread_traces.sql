-- Traces without a trajectory because no span is an agent's, by the scope that wrote them.
--
-- Traces that have not been built yet are included.
--
-- Reads:
--   spans
--   trajectories
-- Columns:
--   scope_name      VARCHAR  Scope of the outermost span, '' if none. One row for each scope and
--                            service_name.
--   service_name    VARCHAR  NULL if not sent.
--   traces          BIGINT   At least 1.
--   spans           BIGINT   All spans of these traces.
--   example_trace   VARCHAR  The lowest trace id.
--   example_name    VARCHAR  Name of that trace's outermost span.
-- Order:
--   traces DESC, scope_name, service_name
WITH unread AS (
  SELECT
    spans.*,
    -- A root comes first, then the earliest span.
    (spans.parent_span_id IS NOT NULL, spans.start_ns, spans.span_id) AS position
  FROM spans
  ANTI JOIN trajectories USING (trace_id)
),

traces AS (
  SELECT
    trace_id,
    arg_min(coalesce(scope_name, ''), position) AS scope_name,
    arg_min(service_name, position) AS service_name,
    arg_min(name, position) AS name,
    count(*) AS spans
  FROM unread
  GROUP BY trace_id
)

SELECT
  scope_name,
  service_name,
  count(*) AS traces,
  sum(spans)::BIGINT AS spans,
  min(trace_id) AS example_trace,
  arg_min(name, trace_id) AS example_name
FROM traces
GROUP BY scope_name, service_name
ORDER BY traces DESC, scope_name ASC, service_name ASC;
