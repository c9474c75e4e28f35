-- Scores of the newest releases of each agent, over all tasks.
--
-- A release is newer than another one if its first run was received later.
--
-- Reads:
--   release_scores
--   trajectory_scores
-- Parameters:
--   $releases  BIGINT     Newest releases of each agent.
--   $metrics   VARCHAR[]  Metrics.
-- Columns:
--   agent_name    VARCHAR  NULL if none is named. One row for each agent_name, run_mode, release
--                          and metric.
--   run_mode      VARCHAR  NULL if not declared.
--   release       VARCHAR  NULL if not sent.
--   metric        VARCHAR  One of $metrics.
--   value         DOUBLE   As in release_scores; NULL if nothing was scored.
--   low           DOUBLE   Lower end of its interval; NULL without one.
--   high          DOUBLE   Upper end of its interval; NULL without one.
--   trajectories  BIGINT   Runs that count in scores.
-- Order:
--   agent_name, run_mode, release, metric
WITH ages AS (
  SELECT
    agent_name,
    release,
    row_number() OVER (PARTITION BY agent_name ORDER BY min(date) DESC, release DESC) AS age
  FROM trajectory_scores
  GROUP BY agent_name, release
)

SELECT
  release_scores.agent_name,
  release_scores.run_mode,
  release_scores.release,
  release_scores.metric,
  release_scores.value,
  release_scores.low,
  release_scores.high,
  release_scores.trajectories
FROM release_scores
INNER JOIN ages
  ON
    release_scores.agent_name IS NOT DISTINCT FROM ages.agent_name
    AND release_scores.release IS NOT DISTINCT FROM ages.release
WHERE
  release_scores.task_category = ''
  AND ages.age <= $releases::BIGINT  -- noqa: RF02
  AND list_contains($metrics::VARCHAR[], release_scores.metric)  -- noqa: RF02
ORDER BY
  release_scores.agent_name,
  release_scores.run_mode,
  release_scores.release,
  release_scores.metric;
