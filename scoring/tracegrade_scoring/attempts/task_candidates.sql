-- The tasks that each attempt without a task on its spans fits, by their `match`.
--
-- Reads:
--   fitting_patterns
--   tasks
--   attempts_without_task
-- Needs:
--   tasks
--   attempts_without_task
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id and task_id.
--   task_id     VARCHAR  A task whose agent's name and pattern, where it gives them, both fit.
-- Order:
--   none
SELECT
  attempts_without_task.attempt_id,
  tasks.task_id
FROM attempts_without_task
INNER JOIN fitting_patterns USING (attempt_id)
INNER JOIN tasks USING (task_id)
WHERE
  tasks.agent_name IS NULL
  OR tasks.agent_name = attempts_without_task.agent
UNION ALL
SELECT
  attempts_without_task.attempt_id,
  tasks.task_id
FROM attempts_without_task
INNER JOIN tasks ON attempts_without_task.agent = tasks.agent_name
WHERE tasks.user_input IS NULL;
