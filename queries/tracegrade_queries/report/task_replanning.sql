-- Failures and changes of plan of each task, side by side.
--
-- Reads:
--   scores
--   trajectories
-- Columns:
--   release       VARCHAR  One row for each release, agent_name and task_id.
--   agent_name    VARCHAR  NULL if the trace names none.
--   task_id       VARCHAR  NULL for runs whose task is not known.
--   runs          BIGINT   Runs; at least 1.
--   planned_runs  BIGINT   Runs in which a plan was observed.
--   replans       BIGINT   Changes of the remaining steps of a plan, in planned runs.
--   failures      BIGINT   Failed calls in planned runs.
--   answered      BIGINT   Of these, followed by a replan before the next call.
-- Order:
--   agent_name, release, task_id
WITH replanning AS (
  SELECT
    trajectory_id,
    max(value) FILTER (WHERE metric = 'replans') AS replans,
    max(numerator) FILTER (WHERE metric = 'replan_given_failure') AS answered,
    max(denominator) FILTER (WHERE metric = 'replan_given_failure') AS failures
  FROM scores
  WHERE
    metric IN ('replans', 'replan_given_failure')
    AND status = 'scored'
  GROUP BY trajectory_id
)

SELECT
  trajectories.release,
  trajectories.agent_name,
  trajectories.task_id,
  count(*) AS runs,
  count(replanning.replans) AS planned_runs,
  coalesce(sum(replanning.replans), 0)::BIGINT AS replans,
  coalesce(sum(replanning.failures), 0)::BIGINT AS failures,
  coalesce(sum(replanning.answered), 0)::BIGINT AS answered
FROM trajectories
LEFT JOIN replanning USING (trajectory_id)
WHERE trajectories.parent_trajectory_id IS NULL
GROUP BY trajectories.release, trajectories.agent_name, trajectories.task_id
ORDER BY trajectories.agent_name, trajectories.release, trajectories.task_id;
