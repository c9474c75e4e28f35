-- Runs that two instrumentations recorded side by side in one trace, the later one to the earlier.
--
-- Twins come from different scopes, do not name different agents, are both outermost or both called
-- by a tool, and share more than half of the longer one's time.
--
-- Reads:
--   run_agents
-- Columns:
--   key   BIGINT  The later twin; one row each.
--   next  BIGINT  The latest of the earlier ones.
-- Order:
--   none
WITH mixed_traces AS (
  SELECT trace_id
  FROM run_agents
  GROUP BY trace_id
  HAVING count(DISTINCT scope_name) > 1
),

candidates AS (
  SELECT run_agents.*
  FROM run_agents
  SEMI JOIN mixed_traces USING (trace_id)
)

SELECT
  later.key,
  arg_max(earlier.key, (earlier.start_ns, earlier.span_id)) AS next
FROM candidates AS later
INNER JOIN candidates AS earlier
  ON
    later.trace_id = earlier.trace_id
    AND later.scope_name <> earlier.scope_name
    AND (earlier.caller IS NULL) = (later.caller IS NULL)
    AND (earlier.start_ns, earlier.span_id) < (later.start_ns, later.span_id)
    AND coalesce(earlier.agent_name = later.agent_name, true)
    AND 2 * (least(earlier.end_ns, later.end_ns) - later.start_ns)
    >= greatest(earlier.end_ns - earlier.start_ns, later.end_ns - later.start_ns)
GROUP BY later.key;
