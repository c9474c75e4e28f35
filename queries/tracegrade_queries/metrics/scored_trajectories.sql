-- Who each trajectory being scored is: task, release, agent, and what it was made from.
--
-- A sub-agent's run has the task of the attempt it belongs to, unless its spans name one.
--
-- Reads:
--   attempt_members
--   attempts
--   tasks
--   trajectories
--   traces_to_score
-- Columns:
--   trajectory_id  VARCHAR  One row each.
--   is_root        BOOLEAN  It is an attempt, not a sub-agent's run.
--   task_id        VARCHAR  NULL if no task is known.
--   task_category  VARCHAR  NULL if not known.
--   release        VARCHAR  NULL if not sent.
--   agent_name     VARCHAR  NULL if none is named.
--   sample_weight  DOUBLE   At least 1.
--   task_hash      VARCHAR  NULL without a task file for the task.
--   input_hash     VARCHAR  Changes when the trace's spans or verdicts do.
--   date           DATE     Date the trace was first received, UTC.
-- Order:
--   trajectory_id
SELECT
  trajectories.trajectory_id,
  attempt_members.depth = 0 AS is_root,
  coalesce(trajectories.task_id, attempts.task_id) AS task_id,
  attempts.task_category,
  trajectories.release,
  trajectories.agent_name,
  coalesce(trajectories.sample_weight, 1) AS sample_weight,
  tasks.task_hash,
  traces_to_score.input_hash,
  traces_to_score.date
FROM trajectories
INNER JOIN attempt_members ON trajectories.trajectory_id = attempt_members.trajectory_id
INNER JOIN attempts ON attempt_members.attempt_id = attempts.attempt_id
INNER JOIN traces_to_score ON trajectories.trace_id = traces_to_score.trace_id
LEFT JOIN tasks ON attempts.task_id = tasks.task_id
ORDER BY trajectories.trajectory_id;
