-- The user's first input in each attempt of a known task.
--
-- Reads:
--   attempt_tasks
--   trajectories
-- Columns:
--   attempt_id  INTEGER  One row each.
--   known_task  VARCHAR  Its task, by span or by match.
--   user_input  VARCHAR  The user's first input; never NULL.
-- Order:
--   none
SELECT
  attempt_tasks.attempt_id,
  attempt_tasks.task_id AS known_task,
  trajectories.user_input
FROM attempt_tasks
INNER JOIN trajectories ON attempt_tasks.attempt_id = trajectories.trajectory_id
WHERE
  attempt_tasks.task_id IS NOT NULL
  AND trajectories.user_input IS NOT NULL;
