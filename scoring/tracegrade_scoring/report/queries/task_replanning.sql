-- Failures and changes of plan of each task, side by side.
--
-- Reads:
--   trajectory_scores
--   trajectories
-- Columns:
--   release       VARCHAR  One row for each release, agent_name, run_mode and task_id.
--   agent_name    VARCHAR  NULL if the trace names none.
--   run_mode      VARCHAR  As the trace says: production | live | mocked; else NULL.
--   task_id       VARCHAR  NULL for runs whose task is not known.
--   runs          BIGINT   Runs; at least 1.
--   planned_runs  BIGINT   Runs in which a plan was observed.
--   replans       BIGINT   Changes of the remaining steps of a plan, in planned runs.
--   failures      BIGINT   Failed calls in planned runs.
--   answered      BIGINT   Of these, followed by a replan before the next call.
-- Order:
--   agent_name, run_mode, release, task_id
SELECT
  trajectory_scores.release,
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  trajectory_scores.task_id,
  count(*) AS runs,
  -- A score that is not applicable has no value: without a plan none, without a failure no share.
  count(trajectory_scores.replans.value) AS planned_runs,
  coalesce(sum(trajectory_scores.replans.value), 0)::BIGINT AS replans,
  coalesce(sum(trajectory_scores.replan_given_failure.denominator), 0)::BIGINT AS failures,
  coalesce(sum(trajectory_scores.replan_given_failure.numerator), 0)::BIGINT AS answered
FROM trajectory_scores
INNER JOIN trajectories USING (trajectory_id)
WHERE trajectories.parent_trajectory_id IS NULL
GROUP BY
  trajectory_scores.release,
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  trajectory_scores.task_id
ORDER BY
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  trajectory_scores.release,
  trajectory_scores.task_id;
