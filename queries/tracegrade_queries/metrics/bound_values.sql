-- What one named group of a task's pattern matched in what the user asked.
--
-- Reads:
--   task_matches
--   trajectories
-- Parameters:
--   $task_id     VARCHAR  The task.
--   $user_input  VARCHAR  Its RE2 pattern.
--   $name        VARCHAR  The name of the group.
--   $number      INTEGER  Its number, from 1.
-- Columns:
--   attempt_id  VARCHAR  Attempts of the task that the pattern fits; one row each.
--   name        VARCHAR  $name.
--   value       VARCHAR  The first match's text; never empty.
-- Order:
--   attempt_id
WITH asked AS (
  SELECT
    task_matches.attempt_id,
    trajectories.user_input AS words,
    task_matches.task_id AS known_task
  FROM task_matches
  INNER JOIN trajectories ON task_matches.attempt_id = trajectories.trajectory_id
)

SELECT
  attempt_id,
  $name::VARCHAR AS name,
  regexp_extract(words, $user_input::VARCHAR, $number::INTEGER) AS value
FROM asked
WHERE
  known_task = $task_id::VARCHAR
  AND regexp_extract(words, $user_input::VARCHAR, $number::INTEGER) <> ''
ORDER BY attempt_id;
