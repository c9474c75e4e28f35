-- Tools that serve each sub-goal, as the task file names them.
--
-- Reads:
--   task_serves
-- As:
--   view
-- Columns:
--   task_id    VARCHAR
--   sub_goal   VARCHAR
--   tool_name  VARCHAR    One row for each tool of a sub-goal.
--   patterns   VARCHAR[]  The arguments must match one of them; NULL where any arguments do.
-- Order:
--   task_id, sub_goal, tool_name
SELECT
  task_id,
  sub_goal,
  tool_name,
  if(count(*) = count(arguments), list(arguments ORDER BY arguments), NULL) AS patterns
FROM task_serves
GROUP BY task_id, sub_goal, tool_name
ORDER BY task_id, sub_goal, tool_name;
