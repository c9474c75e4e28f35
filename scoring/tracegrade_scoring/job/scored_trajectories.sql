-- Who each trajectory being scored is: task, release, agent, and what it was made from.
--
-- A sub-agent's run has the task of the attempt it belongs to, unless its spans name one.
--
-- Reads:
--   attempt_members
--   attempts
--   bucket_traces
--   tasks
--   trajectories
-- Parameters:
--   $tools_hash  VARCHAR  Hash of the tools, for attempts without a known task.
--   $match_hash  VARCHAR  Hash of every `match`.
-- Columns:
--   trajectory_id       INTEGER  One row each.
--   is_root             BOOLEAN  It is an attempt, not a sub-agent's run.
--   task_id             VARCHAR  NULL if no task is known.
--   task_category       VARCHAR  NULL if not known.
--   release             VARCHAR  NULL if not sent.
--   agent_name          VARCHAR  NULL if none is named.
--   run_mode            VARCHAR  Its own, else that of its attempt; NULL if neither says.
--   sample_weight       DOUBLE   At least 1.
--   task_hash           VARCHAR  NULL without a task file for the task.
--   specification_hash  VARCHAR  Of what it is scored against: task and tools, and '/' with that
--                                of `match` where no span names the task. NULL for a sub-agent's.
--   input_hash          VARCHAR  Changes when the trace's spans or verdicts do.
--   date                DATE     Date the trace was first received, UTC.
-- Order:
--   trajectory_id
WITH described AS (
  SELECT
    trajectories.trajectory_id,
    attempt_members.depth = 0 AS is_root,
    coalesce(trajectories.task_id, attempts.task_id) AS task_id,
    coalesce(attempts.task_source = 'span', FALSE) AS is_told,
    attempts.task_category,
    trajectories.release,
    trajectories.agent_name,
    coalesce(trajectories.run_mode, attempts.run_mode) AS run_mode,
    coalesce(trajectories.sample_weight, 1) AS sample_weight,
    tasks.task_hash,
    bucket_traces.input_hash,
    bucket_traces.date
  FROM trajectories
  INNER JOIN attempt_members ON trajectories.trajectory_id = attempt_members.trajectory_id
  INNER JOIN attempts ON attempt_members.attempt_id = attempts.attempt_id
  INNER JOIN bucket_traces ON trajectories.trace_id = bucket_traces.trace_id
  LEFT JOIN tasks ON attempts.task_id = tasks.task_id
)

SELECT
  trajectory_id,
  is_root,
  task_id,
  task_category,
  release,
  agent_name,
  run_mode,
  sample_weight,
  task_hash,
  if(
    is_root,
    coalesce(task_hash, $tools_hash::VARCHAR) || if(is_told, '', '/' || $match_hash::VARCHAR),
    NULL
  ) AS specification_hash,
  input_hash,
  date
FROM described
ORDER BY trajectory_id;
