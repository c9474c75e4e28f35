-- What one named group of a task's pattern matched in what the user asked.
--
-- Reads:
--   asked_attempts
-- Parameters:
--   $task_id     VARCHAR  The task.
--   $user_input  VARCHAR  Its RE2 pattern.
--   $name        VARCHAR  The name of the group.
--   $number      INTEGER  Its number, from 1.
-- Columns:
--   attempt_id  INTEGER  Attempts of the task that the pattern fits; one row each.
--   name        VARCHAR  $name.
--   value       VARCHAR  The first match's text; never empty.
-- Order:
--   attempt_id
SELECT
  attempt_id,
  $name::VARCHAR AS name,
  regexp_extract(words, $user_input::VARCHAR, $number::INTEGER) AS value
FROM asked_attempts
WHERE
  known_task = $task_id::VARCHAR
  AND regexp_extract(words, $user_input::VARCHAR, $number::INTEGER) <> ''
ORDER BY attempt_id;
