-- Critical sub-goals that agents never attempted: steps missing from their plans.
--
-- Runs that were killed on purpose or replaced by a later run of their trial do not count.
--
-- Reads:
--   killed_runs
--   sub_goals
--   superseded_runs
-- Columns:
--   task_id          VARCHAR  NULL if no task is known. One row for each of the first three.
--   sub_goal         VARCHAR  Critical, and skipped at least once.
--   release          VARCHAR  NULL if not sent.
--   attempts         BIGINT   In which it is known whether an action served it.
--   skipped          BIGINT   At least 1.
--   skipped_share    DOUBLE   skipped / attempts, in (0, 1].
--   failed_inside    BIGINT   Attempted, but not completed: a fault of tools or reasoning.
--   example          VARCHAR  A trajectory that skipped it, the first by id.
-- Order:
--   skipped_share DESC, skipped DESC, task_id, sub_goal, release
WITH counted AS (
  SELECT sub_goals.*
  FROM sub_goals
  ANTI JOIN superseded_runs ON sub_goals.trajectory_id = superseded_runs.trajectory_id
  ANTI JOIN killed_runs ON sub_goals.trajectory_id = killed_runs.trajectory_id
)

SELECT
  task_id,
  sub_goal,
  release,
  count(attempted) AS attempts,
  count(*) FILTER (WHERE NOT attempted) AS skipped,
  skipped / attempts AS skipped_share,
  count(*) FILTER (WHERE attempted AND NOT completed) AS failed_inside,
  min(trajectory_id) FILTER (WHERE NOT attempted) AS example
FROM counted
WHERE critical
GROUP BY task_id, sub_goal, release
HAVING skipped > 0
ORDER BY skipped_share DESC, skipped DESC, task_id ASC, sub_goal ASC, release ASC;
