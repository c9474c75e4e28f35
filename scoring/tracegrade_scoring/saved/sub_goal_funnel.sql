-- Sub-goals that agents attempted, completed and undid again, for each task.
--
-- Runs that were killed on purpose or replaced by a later run of their trial do not count.
--
-- Reads:
--   killed_runs
--   sub_goals
--   superseded_runs
-- Columns:
--   task_id          VARCHAR  NULL if no task is known. One row for each of the first three.
--   release          VARCHAR  NULL if not sent.
--   sub_goal         VARCHAR
--   critical         BOOLEAN  The task cannot succeed without it.
--   trajectories     BIGINT   Trajectories whose variant has it.
--   attempted        BIGINT
--   completed        BIGINT
--   regressed        BIGINT   Completed once, but not at the end.
--   too_early        BIGINT   Completed before a prerequisite was.
--   completed_share  DOUBLE   completed / trajectories for which it is known; NULL if for none.
-- Order:
--   task_id, release, completed_share, sub_goal
WITH counted AS (
  SELECT sub_goals.*
  FROM sub_goals
  ANTI JOIN superseded_runs ON sub_goals.trajectory_id = superseded_runs.trajectory_id
  ANTI JOIN killed_runs ON sub_goals.trajectory_id = killed_runs.trajectory_id
)

SELECT
  task_id,
  release,
  sub_goal,
  bool_or(critical) AS critical,
  count(*) AS trajectories,
  count(*) FILTER (WHERE counted.attempted) AS attempted,
  count(*) FILTER (WHERE counted.completed) AS completed,
  count(*) FILTER (WHERE counted.regressed) AS regressed,
  count(*) FILTER (WHERE dependency_violation) AS too_early,
  count(*) FILTER (WHERE counted.completed) / nullif(count(counted.completed), 0)
    AS completed_share
FROM counted
GROUP BY task_id, release, sub_goal
ORDER BY task_id, release, completed_share, sub_goal;
