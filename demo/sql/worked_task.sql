-- The scores of each run of one task, in the order in which they are read; killed runs apart.
--
-- Reads:
--   trajectory_scores
-- Parameters:
--   $task_id  VARCHAR  The task.
-- Columns:
--   release          VARCHAR  One row for each trajectory.
--   decisions        BIGINT   Counted decision points; NULL if none was scored.
--   correct          BIGINT   Correct first picks.
--   tsa              DOUBLE   Tool-selection accuracy, in [0, 10]; NULL if not scored.
--   step_efficiency  DOUBLE   In [0, 1]; NULL if the run failed.
--   replans          BIGINT   Changes of the remaining plan; NULL without a plan.
--   coverage         DOUBLE   Sub-goals attempted / all, in [0, 1]; NULL if not scored.
--   critical_path    DOUBLE   Critical sub-goals completed / all critical ones, in [0, 1].
-- Order:
--   release, trajectory_id
SELECT  -- noqa: ST06
  trajectory_scores.release,
  trajectory_scores.tsa.denominator::BIGINT AS decisions,
  trajectory_scores.tsa.numerator::BIGINT AS correct,
  10 * trajectory_scores.tsa.value AS tsa,
  trajectory_scores.step_efficiency.value AS step_efficiency,
  trajectory_scores.replans.value::BIGINT AS replans,
  trajectory_scores.sub_goal_coverage.value AS coverage,
  trajectory_scores.critical_path_completion.value AS critical_path
FROM trajectory_scores
WHERE
  trajectory_scores.task_id = $task_id
  AND trajectory_scores.tsa.reason IS DISTINCT FROM 'killed_run'
ORDER BY trajectory_scores.release, trajectory_scores.trajectory_id;
