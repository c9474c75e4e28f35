-- Runs that were killed on purpose, or sent in addition to that of their trial; sub-agents' too.
--
-- A report counts them separately. Source: docs/metrics.md, section 6.1.
--
-- Reads:
--   trajectories
--   trajectory_scores
-- Columns:
--   trajectory_id  VARCHAR  One row each.
--   release        VARCHAR  NULL if not named.
--   agent_name     VARCHAR  NULL if the trace names none.
--   run_mode       VARCHAR  As the trace says: production | live | mocked; else NULL.
--   is_root        BOOLEAN  It is not a sub-agent's.
--   is_extra_run   BOOLEAN  It was not killed, but sent in addition to the run of its trial.
-- Order:
--   trajectory_id
SELECT
  trajectories.trajectory_id,
  trajectories.release,
  trajectories.agent_name,
  trajectories.run_mode,
  trajectories.parent_trajectory_id IS NULL AS is_root,
  coalesce(
    trajectories.kill_point = 'several_runs'
    OR trajectory_scores.success.reason = 'several_runs',
    FALSE
  ) AS is_extra_run
FROM trajectories
LEFT JOIN trajectory_scores USING (trajectory_id)
WHERE
  trajectories.kill_point IS NOT NULL
  OR trajectory_scores.success.reason IN ('killed_run', 'several_runs')
ORDER BY trajectories.trajectory_id;
