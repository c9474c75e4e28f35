-- Runs by how many calls failed in them and how often they changed their plan.
--
-- Reads:
--   trajectory_scores
-- Columns:
--   release     VARCHAR  One row for each release, agent_name, run_mode, failures and replans.
--   agent_name  VARCHAR  NULL if the trace names none.
--   run_mode    VARCHAR  As the trace says: production | live | mocked; else NULL.
--   failures    BIGINT   Failed calls of the run.
--   replans     BIGINT   Changes of the remaining steps of its plan.
--   runs        BIGINT   Such runs; at least 1. Runs without an observed plan are not here.
-- Order:
--   agent_name, run_mode, release, failures, replans
WITH planned_runs AS (
  SELECT
    trajectory_scores.release,
    trajectory_scores.agent_name,
    trajectory_scores.run_mode,
    trajectory_scores.replans.value AS replans,
    -- Without a failure, replanning after failures is not applicable.
    coalesce(trajectory_scores.replan_given_failure.denominator, 0) AS failures
  FROM trajectory_scores
  WHERE trajectory_scores.replans.status = 'scored'
)

SELECT
  release,
  agent_name,
  run_mode,
  failures::BIGINT AS failures,
  replans::BIGINT AS replans,
  count(*) AS runs
FROM planned_runs
GROUP BY release, agent_name, run_mode, failures, replans
ORDER BY agent_name, run_mode, release, failures, replans;
