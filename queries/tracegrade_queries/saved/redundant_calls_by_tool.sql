-- Calls that returned nothing new, by tool: same tool, arguments and result as an earlier call.
--
-- The metric redundant_calls is narrower: a change between the two calls excuses the second one.
--
-- Reads:
--   steps
-- Columns:
--   tool_name        VARCHAR  One row for each tool with such a call.
--   calls            BIGINT   All its successful calls with arguments and a result.
--   redundant        BIGINT   Calls that repeat an earlier one of the same trajectory; at least 1.
--   redundant_share  DOUBLE   redundant / calls, in (0, 1].
--   trajectories     BIGINT   Trajectories that contain these calls.
--   wasted_ms        DOUBLE   Duration of the redundant calls; NULL if no source has times.
-- Order:
--   redundant DESC, tool_name
WITH good_calls AS (
  SELECT
    trajectory_id,
    tool_name,
    CASE WHEN NOT coalesce(list_contains(flags, 'synthetic_time'), FALSE) THEN duration_ms END
      AS duration_ms,
    row_number() OVER (
      PARTITION BY trajectory_id, tool_name, arguments, result ORDER BY step_index
    ) > 1 AS is_redundant
  FROM steps
  WHERE
    kind = 'tool_call' AND status = 'ok' AND arguments IS NOT NULL AND result IS NOT NULL
)

SELECT
  tool_name,
  count(*) AS calls,
  count(*) FILTER (WHERE is_redundant) AS redundant,
  redundant / calls AS redundant_share,
  count(DISTINCT trajectory_id) FILTER (WHERE is_redundant) AS trajectories,
  sum(duration_ms ORDER BY duration_ms) FILTER (WHERE is_redundant) AS wasted_ms
FROM good_calls
GROUP BY tool_name
HAVING redundant > 0
ORDER BY redundant DESC, tool_name ASC;
