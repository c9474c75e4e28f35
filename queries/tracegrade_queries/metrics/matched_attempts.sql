-- Attempts without a task on their spans that fit one task's `match`.
--
-- Reads:
--   untold_attempts
-- Parameters:
--   $task_id     VARCHAR  The task.
--   $agent_name  VARCHAR  The root's agent must have this name; NULL for any.
--   $user_input  VARCHAR  RE2, found anywhere in what the user asked first; NULL for any.
-- Columns:
--   attempt_id  INTEGER  One row each.
--   task_id     VARCHAR  $task_id.
-- Order:
--   attempt_id
SELECT
  attempt_id,
  $task_id::VARCHAR AS task_id
FROM untold_attempts
WHERE
  ($agent_name::VARCHAR IS NULL OR agent = $agent_name::VARCHAR)
  AND ($user_input::VARCHAR IS NULL OR regexp_matches(words, $user_input::VARCHAR))
ORDER BY attempt_id;
