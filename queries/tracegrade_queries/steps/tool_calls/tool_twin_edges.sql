-- Edges from tool executions that two instrumentations recorded in parallel to the first scope.
--
-- Twins come from different scopes and have the same call id, or the same tool with arguments that
-- do not differ. They overlap for at least half of the longer one's time, or one is inside the
-- other. With one call id, any overlap suffices, since recording a fast tool takes longer than the
-- tool. Parallel calls with the same arguments pair up in the order of their starts.
--
-- Reads:
--   tool_spans
--   nested_tool_edges
-- Needs:
--   tool_spans GROUP BY run HAVING min(scope_name) <> max(scope_name)
-- Columns:
--   key   BIGINT  Record of a later scope; one row each.
--   next  BIGINT  Record of an earlier scope; one of each scope at most leads to it.
-- Order:
--   none
WITH outermost AS (
  SELECT tool_spans.*
  FROM tool_spans
  ANTI JOIN nested_tool_edges USING (key)
),

scopes AS (
  SELECT
    run,
    scope_name,
    rank() OVER (PARTITION BY run ORDER BY min(start_ns), scope_name) AS scope_rank
  FROM outermost
  GROUP BY run, scope_name
  QUALIFY count(*) OVER (PARTITION BY run) > 1
),

candidates AS (
  SELECT
    outermost.*,
    scopes.scope_rank
  FROM outermost
  INNER JOIN scopes USING (run, scope_name)
),

pairs AS (
  SELECT
    later.key,
    later.scope_name,
    earlier.key AS next,
    abs(earlier.start_ns - later.start_ns) AS distance_ns,
    dense_rank() OVER (
      PARTITION BY
        later.run,
        earlier.scope_name,
        later.scope_name,
        later.plain_name,
        later.match_arguments
      ORDER BY later.start_ns, later.key
    ) AS later_position,
    dense_rank() OVER (
      PARTITION BY
        later.run,
        earlier.scope_name,
        later.scope_name,
        later.plain_name,
        later.match_arguments
      ORDER BY earlier.start_ns, earlier.key
    ) AS earlier_position
  FROM candidates AS later
  INNER JOIN candidates AS earlier
    ON
      later.run = earlier.run
      AND later.scope_rank > earlier.scope_rank
      AND coalesce(later.call_id = earlier.call_id, true)
      AND (later.plain_name = earlier.plain_name OR later.call_id = earlier.call_id)
      AND coalesce(later.match_arguments = earlier.match_arguments, true)
      AND later.end_ns >= earlier.start_ns
      AND later.start_ns <= earlier.end_ns
      AND (
        share_half_their_time(earlier.start_ns, earlier.end_ns, later.start_ns, later.end_ns)
        OR later.call_id = earlier.call_id
        OR (later.start_ns >= earlier.start_ns AND later.end_ns <= earlier.end_ns)
        OR (later.start_ns <= earlier.start_ns AND later.end_ns >= earlier.end_ns)
      )
),

nearest AS (
  SELECT *
  FROM pairs
  QUALIFY
    row_number() OVER (
      PARTITION BY key ORDER BY later_position <> earlier_position, distance_ns, next
    ) = 1
)

SELECT
  key,
  next
FROM nearest
QUALIFY
  row_number() OVER (
    PARTITION BY next, scope_name ORDER BY later_position <> earlier_position, distance_ns, key
  ) = 1;
