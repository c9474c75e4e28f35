-- What the user asked first in each attempt of a known task.
--
-- Reads:
--   task_matches
--   trajectories
-- Columns:
--   attempt_id  INTEGER  One row each.
--   known_task  VARCHAR  Its task, by span or by match.
--   words       VARCHAR  What the user asked; never NULL.
-- Order:
--   none
SELECT
  task_matches.attempt_id,
  task_matches.task_id AS known_task,
  trajectories.user_input AS words
FROM task_matches
INNER JOIN trajectories ON task_matches.attempt_id = trajectories.trajectory_id
WHERE
  task_matches.task_id IS NOT NULL
  AND trajectories.user_input IS NOT NULL;
