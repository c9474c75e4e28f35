-- The sub-goals of a task, over all its attempts, for the graph of the task's page.
--
-- Runs that do not count in rates, and those that are not listed, are left out.
--
-- Reads:
--   run_index
--   sub_goals
-- Parameters:
--   $task_id  VARCHAR  The task.
-- Columns:
--   sub_goal       VARCHAR    One row each.
--   critical       BOOLEAN    The task cannot succeed without it.
--   deps           VARCHAR[]  Its direct prerequisites in any attempt, sorted.
--   attempts       BIGINT     Attempts for which it is known whether they served it; at least 1.
--   attempted      BIGINT     Attempts with at least one call that served it.
--   completed      BIGINT     Attempts in which its criterion held at the end.
--   regressed      BIGINT     Attempts in which it held once, but not at the end.
--   violations     BIGINT     Attempts that completed it before a prerequisite.
--   trajectory_id  VARCHAR    A run that did not attempt it, else did not complete it; NULL if
--                             none.
-- Order:
--   sub_goal
SELECT
  sub_goal,
  coalesce(bool_or(critical), FALSE) AS critical,
  coalesce(list_sort(list_distinct(flatten(list(deps)))), []) AS deps,
  count(attempted) AS attempts,
  count(*) FILTER (WHERE attempted) AS attempted,
  count(*) FILTER (WHERE completed) AS completed,
  count(*) FILTER (WHERE regressed) AS regressed,
  count(*) FILTER (WHERE dependency_violation) AS violations,
  coalesce(
    min(trajectory_id) FILTER (WHERE NOT attempted),
    min(trajectory_id) FILTER (WHERE NOT completed)
  ) AS trajectory_id
FROM sub_goals
WHERE
  task_id = $task_id
  AND trajectory_id IN (
    SELECT run_index.trajectory_id FROM run_index
    WHERE NOT run_index.killed AND NOT run_index.superseded
  )
GROUP BY sub_goal
HAVING count(attempted) > 0
ORDER BY sub_goal;
