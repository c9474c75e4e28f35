-- Which tasks each attempt without a task on its spans fits, by their `match`.
--
-- Reads:
--   fitting_patterns
--   tasks
--   untold_attempts
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id and task_id.
--   task_id     VARCHAR  A task whose agent's name and pattern, where it gives them, both fit.
-- Order:
--   none
SELECT
  untold_attempts.attempt_id,
  tasks.task_id
FROM untold_attempts
INNER JOIN fitting_patterns USING (attempt_id)
INNER JOIN tasks USING (task_id)
WHERE
  tasks.agent_name IS NULL
  OR tasks.agent_name = untold_attempts.agent
UNION ALL
SELECT
  untold_attempts.attempt_id,
  tasks.task_id
FROM untold_attempts
INNER JOIN tasks ON untold_attempts.agent = tasks.agent_name
WHERE tasks.user_input IS NULL;
