-- Attempts and completions of each sub-goal of each task.
--
-- Reads:
--   sub_goals
--   trajectories
-- Columns:
--   release        VARCHAR  One row for each release, agent_name, run_mode, task_id and sub_goal.
--   agent_name     VARCHAR  NULL if the trace names none.
--   run_mode       VARCHAR  As the trace says: production | live | mocked; else NULL.
--   task_id        VARCHAR  The task whose plan graph holds the sub-goal.
--   sub_goal       VARCHAR  Its name there.
--   critical       BOOLEAN  True if the task cannot succeed without it.
--   deps           VARCHAR[]  Its direct prerequisites in any attempt, sorted.
--   attempts       BIGINT   Attempts that are known to have served it or not; at least 1.
--   attempted      BIGINT   Attempts among them with at least one action that served it.
--   completed      BIGINT   Attempts among them whose success criterion held at the end.
--   regressed      BIGINT   Attempts among them whose criterion held once but not at the end.
--   violations     BIGINT   Attempts among them that completed it before a prerequisite.
--   trajectory_id  VARCHAR  A run that did not attempt it, else did not complete it; NULL if none.
-- Order:
--   agent_name, run_mode, release, task_id, sub_goal
SELECT
  sub_goals.release,
  trajectories.agent_name,
  trajectories.run_mode,
  sub_goals.task_id,
  sub_goals.sub_goal,
  coalesce(bool_or(sub_goals.critical), FALSE) AS critical,
  coalesce(list_sort(list_distinct(flatten(list(sub_goals.deps)))), []) AS deps,
  count(sub_goals.attempted) AS attempts,
  count(*) FILTER (WHERE sub_goals.attempted) AS attempted,
  count(*) FILTER (WHERE sub_goals.completed) AS completed,
  count(*) FILTER (WHERE sub_goals.regressed) AS regressed,
  count(*) FILTER (WHERE sub_goals.dependency_violation) AS violations,
  coalesce(
    min(sub_goals.trajectory_id) FILTER (WHERE NOT sub_goals.attempted),
    min(sub_goals.trajectory_id) FILTER (WHERE NOT sub_goals.completed)
  ) AS trajectory_id
FROM sub_goals
LEFT JOIN trajectories USING (trajectory_id)
GROUP BY
  sub_goals.release,
  trajectories.agent_name,
  trajectories.run_mode,
  sub_goals.task_id,
  sub_goals.sub_goal
HAVING count(sub_goals.attempted) > 0
ORDER BY
  trajectories.agent_name,
  trajectories.run_mode,
  sub_goals.release,
  sub_goals.task_id,
  sub_goals.sub_goal;
