-- Attempts that are watched: the same that `release_scores` counts.
--
-- Left out: runs of sub-agents, runs that were killed or sent in addition to a trial's run, and
-- runs that a later run superseded.
--
-- Reads:
--   superseded_runs
--   trajectories
--   trajectory_scores
-- Parameters:
--   $dimension  VARCHAR  Dimension whose values are watched apart; NULL for all runs together.
-- Columns:
--   trajectory_id    VARCHAR  One row each.
--   agent_name       VARCHAR  NULL if none is named.
--   run_mode         VARCHAR  production | live | mocked; NULL if not declared.
--   release          VARCHAR  NULL if not sent.
--   dimension_value  VARCHAR  Value of the dimension; NULL without one.
--   task_id          VARCHAR  NULL if unknown.
--   conversation_id  VARCHAR  Its conversation; NULL if it has none.
--   sample_weight    DOUBLE   1 / probability that the trace was sampled; at least 1.
--   scored_with      VARCHAR  Version of the scorer, and hash of the task it was scored against.
--   date             DATE     Date the trace was first received, UTC.
-- Order:
--   trajectory_id
SELECT
  trajectory_scores.trajectory_id,
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  trajectory_scores.release,
  trajectory_scores.dimensions[$dimension::VARCHAR] AS dimension_value,  -- noqa: RF02
  trajectory_scores.task_id,
  trajectories.conversation_id,
  trajectory_scores.sample_weight,
  concat_ws('/', trajectory_scores.scorer_version, trajectory_scores.task_hash) AS scored_with,
  trajectory_scores.date
FROM trajectory_scores
INNER JOIN trajectories USING (trajectory_id)
ANTI JOIN superseded_runs USING (trajectory_id)
WHERE
  trajectories.parent_trajectory_id IS NULL
  AND coalesce(trajectory_scores.success.reason NOT IN ('killed_run', 'several_runs'), TRUE)
  AND (
    $dimension::VARCHAR IS NULL  -- noqa: RF02
    OR trajectory_scores.dimensions[$dimension::VARCHAR] IS NOT NULL  -- noqa: RF02
  )
ORDER BY trajectory_scores.trajectory_id;
