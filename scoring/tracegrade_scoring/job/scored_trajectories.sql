-- Identity of each trajectory being scored: its task, release, agent, and the hashes of its
-- inputs.
--
-- A sub-agent's run has the task of the attempt it belongs to, unless its spans name one.
--
-- Reads:
--   attempt_members
--   attempts
--   bucket_traces
--   attempts_with_unrecorded_calls
--   steps
--   tasks
--   trajectories
-- Parameters:
--   $tools_hash  VARCHAR  Hash of the tools, for attempts without a known task.
--   $match_hash  VARCHAR  Hash of every `match`.
-- Columns:
--   trajectory_id       INTEGER  One row each.
--   is_root             BOOLEAN  It is an attempt, not a sub-agent's run.
--   killed              BOOLEAN  It was killed on purpose, or called by such a run: not an
--                                attempt.
--   is_extra_run        BOOLEAN  It counts as killed, but was not: it ran in addition to the run
--                                of its trial, or was called by such a run.
--   content_lost        INTEGER  Unreadable content in its attempt: 1 some was redacted, 2 some
--                                was cut and none redacted, 0 neither.
--   calls_unrecorded    BOOLEAN  Calls of its attempt were not recorded, or may not have been.
--   own_unrecorded      BOOLEAN  The same for its own calls.
--   task_id             VARCHAR  NULL if no task is known.
--   task_category       VARCHAR  NULL if not known.
--   release             VARCHAR  NULL if not sent.
--   agent_name          VARCHAR  NULL if none is named.
--   run_mode            VARCHAR  Its own, else that of its attempt; NULL if neither says.
--   sample_weight       DOUBLE   At least 1.
--   task_hash           VARCHAR  NULL without a task file for the task.
--   specification_hash  VARCHAR  Hash of task and tools that it is scored against, and '/' with
--                                the hash of `match` where no span names the task. NULL for a
--                                sub-agent's.
--   input_hash          VARCHAR  Changes when the trace's spans or verdicts do.
--   dimensions          MAP(VARCHAR, VARCHAR)  NULL without a mapping file.
--   date                DATE     Date the trace was first received, UTC.
-- Order:
--   trajectory_id
WITH RECURSIVE killed AS (
  SELECT
    trajectory_id,
    kill_point = 'several_runs' AS is_extra_run
  FROM trajectories
  WHERE kill_point IS NOT NULL
  UNION
  SELECT
    trajectories.trajectory_id,
    killed.is_extra_run
  FROM killed
  INNER JOIN trajectories ON killed.trajectory_id = trajectories.parent_trajectory_id
),

lost AS (
  SELECT
    attempt_members.attempt_id,
    bool_or(list_has_any(steps.flags, ['redacted', 'result_redacted'])) AS is_redacted,
    bool_or(list_has_any(steps.flags, ['truncated', 'result_truncated'])) AS is_cut
  FROM steps
  INNER JOIN attempt_members USING (trajectory_id)
  WHERE len(steps.flags) > 0
  GROUP BY attempt_members.attempt_id
),

described AS (
  SELECT
    trajectories.trajectory_id,
    coalesce(attempt_members.depth = 0, FALSE) AS is_root,
    killed.trajectory_id IS NOT NULL AS killed,
    coalesce(killed.is_extra_run, FALSE) AS is_extra_run,
    CASE WHEN lost.is_redacted THEN 1 WHEN lost.is_cut THEN 2 ELSE 0 END AS content_lost,
    attempts_with_unrecorded_calls.attempt_id IS NOT NULL AS calls_unrecorded,
    coalesce(list_contains(trajectories.flags, 'unrecorded_calls'), FALSE) AS own_unrecorded,
    coalesce(trajectories.task_id, attempts.task_id) AS task_id,
    coalesce(attempts.task_source = 'span', FALSE) AS is_declared,
    attempts.task_category,
    trajectories.release,
    trajectories.agent_name,
    coalesce(trajectories.run_mode, attempts.run_mode) AS run_mode,
    coalesce(trajectories.sample_weight, 1) AS sample_weight,
    tasks.task_hash,
    bucket_traces.input_hash,
    trajectories.dimensions,
    bucket_traces.date
  FROM trajectories
  LEFT JOIN attempt_members ON trajectories.trajectory_id = attempt_members.trajectory_id
  LEFT JOIN attempts ON attempt_members.attempt_id = attempts.attempt_id
  LEFT JOIN lost ON attempt_members.attempt_id = lost.attempt_id
  LEFT JOIN attempts_with_unrecorded_calls
    ON attempt_members.attempt_id = attempts_with_unrecorded_calls.attempt_id
  LEFT JOIN killed ON trajectories.trajectory_id = killed.trajectory_id
  INNER JOIN bucket_traces ON trajectories.trace_id = bucket_traces.trace_id
  LEFT JOIN tasks ON attempts.task_id = tasks.task_id
  WHERE
    attempts.attempt_id IS NOT NULL
    OR killed.trajectory_id IS NOT NULL
)

SELECT
  trajectory_id,
  is_root,
  killed,
  is_extra_run,
  content_lost,
  calls_unrecorded,
  own_unrecorded,
  task_id,
  task_category,
  release,
  agent_name,
  run_mode,
  sample_weight,
  task_hash,
  if(
    is_root,
    coalesce(task_hash, $tools_hash::VARCHAR) || if(is_declared, '', '/' || $match_hash::VARCHAR),
    NULL
  ) AS specification_hash,
  input_hash,
  dimensions,
  date
FROM described
ORDER BY trajectory_id;
