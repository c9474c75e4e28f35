-- Sub-goals that agents attempted, completed and undid again, for each task.
--
-- Reads:
--   sub_goals
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
SELECT
  task_id,
  release,
  sub_goal,
  bool_or(critical) AS critical,
  count(*) AS trajectories,
  count(*) FILTER (WHERE sub_goals.attempted) AS attempted,
  count(*) FILTER (WHERE sub_goals.completed) AS completed,
  count(*) FILTER (WHERE sub_goals.regressed) AS regressed,
  count(*) FILTER (WHERE dependency_violation) AS too_early,
  count(*) FILTER (WHERE sub_goals.completed) / nullif(count(sub_goals.completed), 0)
    AS completed_share
FROM sub_goals
GROUP BY task_id, release, sub_goal
ORDER BY task_id, release, completed_share, sub_goal;
