-- Valid attempts of each task and how many succeeded, for pass@k and pass^k.
--
-- An attempt is the runs of one task, trial and conversation (its turns); it is correct only if
-- each turn is. Without a conversation, only the later run of a repeated trial counts. Without
-- trial and conversation, each run is an attempt. A run that was killed on purpose is not an
-- attempt. A run that waits for a person is one only if it was judged. A run that another run
-- continues is a part of that run.
--
-- Reads:
--   continued_runs
--   trajectory_scores
--   trajectories
-- Columns:
--   release         VARCHAR  One row for each release, agent_name, run_mode and task_id.
--   agent_name      VARCHAR  NULL if the trace names none.
--   run_mode        VARCHAR  production | live | mocked; NULL if the trace does not say.
--   task_id         VARCHAR  Never NULL: runs without a task are left out.
--   task_category   VARCHAR  The last by name, if runs differ; NULL if no run has one.
--   valid_attempts  BIGINT   Attempts of known success.
--   correct         BIGINT   Successful attempts among them.
--   invalid         BIGINT   Attempts of unknown success, which are not failures.
--   superseded      BIGINT   Runs that a later run of the same trial replaced.
--   retried         BIGINT   Valid attempts that were restarted after errors, by the record of
--                            their runs.
--   repeated        BIGINT   Valid attempts at a trial beyond its first: in other conversations.
-- Order:
--   agent_name, run_mode, release, task_id
WITH runs AS (
  SELECT
    trajectory_scores.trajectory_id,
    trajectory_scores.release,
    trajectory_scores.agent_name,
    trajectory_scores.task_id,
    trajectory_scores.task_category,
    trajectories.run_mode,
    trajectories.trial,
    trajectories.conversation_id,
    coalesce(list_contains(trajectories.flags, 'retried'), FALSE) AS retried,
    trajectories.start_time,
    CASE
      WHEN trajectories.trial IS NULL AND trajectories.conversation_id IS NULL
        THEN trajectories.trajectory_id
    END AS own_attempt,
    CASE
      WHEN trajectory_scores.success.status = 'scored' THEN trajectory_scores.success.value
    END AS succeeded
  FROM trajectory_scores
  INNER JOIN trajectories USING (trajectory_id)
  ANTI JOIN continued_runs USING (trajectory_id)
  WHERE
    trajectory_scores.task_id IS NOT NULL
    AND trajectories.parent_trajectory_id IS NULL
    AND trajectories.kill_point IS NULL
    -- The run that continues a waiting run is the attempt's next.
    AND NOT (
      coalesce(trajectories.interrupted, FALSE)
      AND trajectory_scores.success.status <> 'scored'
    )
),

attempts AS (
  SELECT
    release,
    agent_name,
    run_mode,
    task_id,
    conversation_id,
    trial,
    bool_or(retried) AS retried,
    max(task_category) AS task_category,
    count(*) AS turns,
    -- One turn of unknown success makes the attempt's unknown, unless another failed.
    CASE
      WHEN conversation_id IS NULL
        THEN arg_max_null(succeeded, (start_time, trajectory_id))
      WHEN min(succeeded) = 0 OR count(succeeded) = count(*)
        THEN min(succeeded)
    END AS succeeded
  FROM runs
  GROUP BY release, agent_name, run_mode, task_id, trial, conversation_id, own_attempt
)

SELECT
  release,
  agent_name,
  run_mode,
  task_id,
  max(task_category) AS task_category,
  count(succeeded) AS valid_attempts,
  count(*) FILTER (WHERE succeeded = 1) AS correct,
  count_if(succeeded IS NULL)::BIGINT AS invalid,
  coalesce(sum(turns - 1) FILTER (WHERE conversation_id IS NULL), 0)::BIGINT AS superseded,
  count(*) FILTER (WHERE retried AND succeeded IS NOT NULL) AS retried,
  count(trial) FILTER (WHERE succeeded IS NOT NULL)
  - count(DISTINCT trial) FILTER (WHERE succeeded IS NOT NULL) AS repeated
FROM attempts
GROUP BY release, agent_name, run_mode, task_id
ORDER BY agent_name, run_mode, release, task_id;
