-- Calls of tools that serve a sub-goal of their task if their arguments match a pattern.
--
-- Reads:
--   calls
--   attempt_tasks
--   task_serves
-- Needs:
--   task_serves WHERE arguments IS NOT NULL
-- Columns:
--   attempt_id  INTEGER  The root trajectory.
--   call_index  INTEGER  The call; one row for each attempt_id, call_index and pattern.
--   pattern     VARCHAR  RE2; never NULL.
--   arguments   VARCHAR  Of the call; never NULL.
-- Order:
--   none
WITH patterns AS (
  SELECT DISTINCT
    task_id,
    tool_name,
    arguments AS pattern
  FROM task_serves
  WHERE arguments IS NOT NULL
)

SELECT
  calls.attempt_id,
  calls.call_index,
  patterns.pattern,
  calls.arguments
FROM calls
INNER JOIN attempt_tasks USING (attempt_id)
INNER JOIN patterns USING (task_id, tool_name)
WHERE calls.arguments IS NOT NULL;
