-- Success criteria of tasks and of their sub-goals.
--
-- Reads:
--   task_sub_goals
--   tasks
-- As:
--   view
-- Columns:
--   task_id   VARCHAR
--   sub_goal  VARCHAR  '' for the criterion of the task itself.
--   success   VARCHAR  The criterion, as JSON.
-- Order:
--   task_id, sub_goal
SELECT
  task_id,
  '' AS sub_goal,
  success
FROM tasks
WHERE success IS NOT NULL
UNION ALL
SELECT
  task_id,
  sub_goal,
  success
FROM task_sub_goals
WHERE success IS NOT NULL
ORDER BY task_id, sub_goal;
