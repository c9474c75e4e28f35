-- Attempts whose spans name no task: a task's `match` may find one.
--
-- Reads:
--   attempt_members
--   trajectories
-- Columns:
--   attempt_id  INTEGER  One row each.
--   agent       VARCHAR  Of the root; NULL if none is named.
--   user_input  VARCHAR  The user's first input; NULL if not captured.
-- Order:
--   none
SELECT
  attempt_members.attempt_id,
  trajectories.agent_name AS agent,
  trajectories.user_input
FROM attempt_members
INNER JOIN trajectories USING (trajectory_id)
WHERE
  attempt_members.depth = 0
  AND trajectories.task_id IS NULL;
