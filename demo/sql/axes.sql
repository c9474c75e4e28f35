-- The three axes of the T-Score for each run of one task; killed runs are not attempts.
--
-- Reads:
--   trajectory_scores
-- Parameters:
--   $task_id  VARCHAR  The task.
-- Columns:
--   release            VARCHAR  One row for each trajectory.
--   tsa                DOUBLE   Tool-selection accuracy, in [0, 10].
--   planning           DOUBLE   Planning quality, in [0, 10].
--   planning_strict    DOUBLE   The same with branches and scope fully or not at all.
--   rollback_at_once   DOUBLE   Rollback-ability before recovery, in [0, 10]; NULL without kills.
--   rollback           DOUBLE   Rollback-ability after recovery, in [0, 10]; NULL without kills.
-- Order:
--   release, trajectory_id
SELECT  -- noqa: ST06
  trajectory_scores.release,
  10 * trajectory_scores.tsa.value AS tsa,
  trajectory_scores.pq.value AS planning,
  trajectory_scores.pq_strict.value AS planning_strict,
  trajectory_scores.ra_immediate.value AS rollback_at_once,
  trajectory_scores.ra_after_recovery.value AS rollback
FROM trajectory_scores
WHERE
  trajectory_scores.task_id = $task_id
  AND trajectory_scores.tsa.reason IS DISTINCT FROM 'killed_run'
ORDER BY trajectory_scores.release, trajectory_scores.trajectory_id;
