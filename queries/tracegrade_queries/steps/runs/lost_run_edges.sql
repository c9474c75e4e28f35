-- Edges from runs whose parents were lost to the run around them, in the same trace.
--
-- An agent that serves another over the network is below its client's span, even if the spans
-- between them did not arrive.
--
-- Reads:
--   bucket_spans
--   known_parents
--   run_starts
--   twin_edges
-- Needs:
--   known_parents WHERE operation = 'agent' AND top IN (SELECT key FROM bucket_spans WHERE
--     parent_span_id IS NOT NULL)
-- Columns:
--   key   BIGINT  Run below a span that did not arrive; one row each.
--   next  BIGINT  Run with a root that started last before it and ends after it.
-- Order:
--   none
WITH runs AS (
  SELECT
    run_starts.key,
    run_starts.trace_id,
    run_starts.start_ns,
    run_starts.end_ns,
    coalesce(tops.parent_span_id IS NOT NULL, FALSE) AS is_lost
  FROM run_starts
  INNER JOIN known_parents USING (key)
  LEFT JOIN bucket_spans AS tops ON known_parents.top = tops.key
  ANTI JOIN twin_edges ON run_starts.key = twin_edges.key
  WHERE run_starts.caller IS NULL
),

rooted AS (
  SELECT * FROM runs
  WHERE NOT is_lost
)

SELECT
  runs.key,
  rooted.key AS next
FROM runs
ASOF JOIN rooted ON runs.trace_id = rooted.trace_id AND runs.start_ns >= rooted.start_ns
WHERE runs.is_lost AND runs.end_ns <= rooted.end_ns;
