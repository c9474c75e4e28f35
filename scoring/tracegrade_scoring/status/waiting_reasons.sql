-- Why runs of a trace wait: the span that is missing, or has not ended.
--
-- Reads:
--   spans
--   waiting_runs
-- Columns:
--   trace_id     VARCHAR    One row each.
--   reason       VARCHAR    no_root: no span without a parent has come; parent_missing: a span's
--                           parent has not come; not_ended: a span has no end; quiet: nothing of
--                           these, and it waits until it is quiet.
--   received_ns  BIGINT     When its last span was received, ns since 1970.
--   until_ns     BIGINT     When its runs are scored as they are, ns since 1970.
--   runs         VARCHAR[]  The runs that wait, sorted.
-- Order:
--   until_ns, trace_id
WITH found AS (
  SELECT
    spans.trace_id,
    spans.span_id,
    nullif(spans.parent_span_id, '') AS parent_span_id,
    coalesce(spans.end_ns, 0) = 0 AS is_open,
    spans.received_ns
  FROM spans
  SEMI JOIN waiting_runs USING (trace_id)
),

facts AS (
  SELECT
    found.trace_id,
    bool_and(found.parent_span_id IS NOT NULL) AS without_root,
    bool_or(found.parent_span_id IS NOT NULL AND parents.span_id IS NULL) AS without_parent,
    bool_or(found.is_open) AS has_open,
    max(found.received_ns) AS received_ns
  FROM found
  LEFT JOIN found AS parents
    ON found.trace_id = parents.trace_id AND found.parent_span_id = parents.span_id
  GROUP BY found.trace_id
)

SELECT
  waiting_runs.trace_id,
  CASE
    WHEN facts.without_root THEN 'no_root'
    WHEN facts.without_parent THEN 'parent_missing'
    WHEN facts.has_open THEN 'not_ended'
    ELSE 'quiet'
  END AS reason,
  facts.received_ns,
  waiting_runs.until_ns,
  waiting_runs.runs
FROM waiting_runs
LEFT JOIN facts ON waiting_runs.trace_id = facts.trace_id
ORDER BY waiting_runs.until_ns, waiting_runs.trace_id;
