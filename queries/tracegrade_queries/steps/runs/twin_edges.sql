-- Edges from runs that two instrumentations recorded in one trace to the run of the first scope.
--
-- Twins come from different scopes, and do not name different agents. They are both outermost, or
-- tools called both, and they overlap for at least half of the longer one's time.
--
-- Reads:
--   run_starts
-- Needs:
--   run_starts GROUP BY trace_id HAVING min(scope_name) <> max(scope_name)
-- Columns:
--   key   BIGINT  Run of a later scope; one row each.
--   next  BIGINT  Run of an earlier scope whose start is nearest.
-- Order:
--   none
WITH scopes AS (
  SELECT
    trace_id,
    scope_name,
    rank() OVER (PARTITION BY trace_id ORDER BY min(start_ns), scope_name) AS scope_rank
  FROM run_starts
  GROUP BY trace_id, scope_name
  QUALIFY count(*) OVER (PARTITION BY trace_id) > 1
),

candidates AS (
  SELECT
    run_starts.*,
    scopes.scope_rank
  FROM run_starts
  INNER JOIN scopes USING (trace_id, scope_name)
)

SELECT
  later.key,
  arg_min(earlier.key, (abs(earlier.start_ns - later.start_ns), earlier.span_id)) AS next
FROM candidates AS later
INNER JOIN candidates AS earlier
  ON
    later.trace_id = earlier.trace_id
    AND later.scope_rank > earlier.scope_rank
    AND (earlier.caller IS NULL) = (later.caller IS NULL)
    AND coalesce(later.agent_name = earlier.agent_name, TRUE)
    AND share_half_their_time(earlier.start_ns, earlier.end_ns, later.start_ns, later.end_ns)
GROUP BY later.key;
