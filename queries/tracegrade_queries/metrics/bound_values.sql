-- What one named group of a task's pattern matched in what the user asked.
--
-- Reads:
--   task_matches
--   trajectories
-- Parameters:
--   $task_id     VARCHAR  The task.
--   $user_input  VARCHAR  Its RE2 pattern.
--   $name        VARCHAR  The name of the group.
--   $group       INTEGER  Its number, from 1.
-- Columns:
--   attempt_id  VARCHAR  Attempts of the task, by span or match, that the pattern fits; one row each.
--   name        VARCHAR  $name.
--   value       VARCHAR  The first match's text; never empty.
-- Order:
--   attempt_id
SELECT
  task_matches.attempt_id,
  $name::VARCHAR AS name,
  regexp_extract(trajectories.user_input, $user_input::VARCHAR, $group::INTEGER) AS value
FROM task_matches
INNER JOIN trajectories ON task_matches.attempt_id = trajectories.trajectory_id
WHERE
  task_matches.task_id = $task_id::VARCHAR
  AND regexp_extract(trajectories.user_input, $user_input::VARCHAR, $group::INTEGER) <> ''
ORDER BY task_matches.attempt_id;
