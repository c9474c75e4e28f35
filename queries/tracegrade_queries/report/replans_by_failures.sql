-- Runs by how many calls failed in them and how often they changed their plan.
--
-- Reads:
--   scores
--   trajectories
-- Columns:
--   release     VARCHAR  One row for each release, agent_name, failures and replans.
--   agent_name  VARCHAR  NULL if the trace names none.
--   failures    BIGINT   Failed calls of the run.
--   replans     BIGINT   Changes of the remaining steps of its plan.
--   runs        BIGINT   Such runs; at least 1. Runs without an observed plan are not here.
-- Order:
--   agent_name, release, failures, replans
WITH planned_runs AS (
  SELECT
    trajectory_id,
    (max(value) FILTER (WHERE metric = 'replans'))::BIGINT AS replans,
    -- Without a failure, replanning after failures is not applicable.
    coalesce(max(denominator) FILTER (WHERE metric = 'replan_given_failure'), 0)::BIGINT
      AS failures
  FROM scores
  WHERE
    metric IN ('replans', 'replan_given_failure')
    AND status = 'scored'
  GROUP BY trajectory_id
  HAVING replans IS NOT NULL
)

SELECT
  trajectories.release,
  trajectories.agent_name,
  planned_runs.failures,
  planned_runs.replans,
  count(*) AS runs
FROM planned_runs
INNER JOIN trajectories USING (trajectory_id)
WHERE trajectories.parent_trajectory_id IS NULL
GROUP BY
  trajectories.release,
  trajectories.agent_name,
  planned_runs.failures,
  planned_runs.replans
ORDER BY
  trajectories.agent_name,
  trajectories.release,
  planned_runs.failures,
  planned_runs.replans;
