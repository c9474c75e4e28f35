-- Time until agents first call a tool, by release, and the number that never do.
--
-- Reads:
--   steps
--   trajectories
-- Columns:
--   release       VARCHAR  NULL if the spans name none. One row for each release and agent_name.
--   agent_name    VARCHAR  NULL if none is named.
--   trajectories  BIGINT   Trajectories whose source has times; at least 1.
--   without_call  BIGINT   Trajectories that called no tool.
--   median_ms     DOUBLE   From the trajectory's start to its first call's; NULL without calls.
--   p95_ms        DOUBLE   95th percentile, interpolated; NULL without calls.
-- Order:
--   release, agent_name
WITH first_calls AS (
  SELECT
    trajectory_id,
    min(start_time) FILTER (WHERE kind = 'tool_call') AS start_time
  FROM steps
  GROUP BY trajectory_id
  HAVING NOT bool_or(list_contains(flags, 'synthetic_time'))
),

waits AS (
  SELECT
    trajectories.release,
    trajectories.agent_name,
    (epoch_us(first_calls.start_time) - epoch_us(trajectories.start_time)) / 1000 AS ms
  FROM trajectories
  INNER JOIN first_calls USING (trajectory_id)
)

SELECT
  release,
  agent_name,
  count(*) AS trajectories,
  count(*) FILTER (WHERE ms IS NULL) AS without_call,
  median(ms) AS median_ms,
  quantile_cont(ms, 0.95) AS p95_ms
FROM waits
GROUP BY release, agent_name
ORDER BY release, agent_name;
