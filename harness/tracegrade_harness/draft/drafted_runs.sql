-- Runs that become cases: the named runs, else the newest run of each group.
--
-- A group is an agent, a task, a failure mode and whether runs succeeded. If a run is the newest
-- of several groups, it appears once, for the first of its modes.
--
-- Reads:
--   failures
--   trajectories
--   trajectory_scores
-- Parameters:
--   $failed        BOOLEAN    Only runs that failed.
--   $tasks         VARCHAR[]  Only runs of these tasks; NULL for all.
--   $trajectories  VARCHAR[]  These runs; NULL for the newest of each group that was not mocked.
-- Columns:
--   trajectory_id  VARCHAR    One row each.
--   trace_id       VARCHAR
--   agent_name     VARCHAR    NULL if none is named.
--   release        VARCHAR    NULL if not sent.
--   task_id        VARCHAR    As scored, else from a span; NULL if not known.
--   mode           VARCHAR    The failure mode of its group; NULL if it shows none.
--   success        BOOLEAN    NULL if not known.
--   user_input     VARCHAR    NULL if it was not captured.
--   start_time     TIMESTAMP  UTC.
-- Order:
--   agent_name, task_id, mode, trajectory_id
WITH runs AS (
  SELECT
    trajectories.trajectory_id,
    trajectories.trace_id,
    trajectories.agent_name,
    trajectories.release,
    coalesce(trajectory_scores.task_id, trajectories.task_id) AS task_id,
    coalesce(
      trajectory_scores.success.value = 1,
      CASE trajectories.outcome WHEN 'success' THEN TRUE WHEN 'failure' THEN FALSE END
    ) AS success,
    trajectories.user_input,
    trajectories.start_time,
    trajectories.run_mode
  FROM trajectories
  LEFT JOIN trajectory_scores USING (trajectory_id)
  WHERE
    trajectories.parent_trajectory_id IS NULL
    AND trajectories.kill_point IS NULL
),

chosen_runs AS (
  SELECT * FROM runs
  WHERE
    CASE
      WHEN $trajectories::VARCHAR[] IS NULL THEN run_mode IS DISTINCT FROM 'mocked'
      ELSE list_contains($trajectories::VARCHAR[], trajectory_id)
    END
    AND ($tasks::VARCHAR[] IS NULL OR list_contains($tasks::VARCHAR[], task_id))
    AND (NOT $failed::BOOLEAN OR success IS NOT DISTINCT FROM FALSE)
),

modes AS (
  SELECT DISTINCT
    trajectory_id,
    mode
  FROM failures
),

grouped AS (
  SELECT
    chosen_runs.*,
    modes.mode,
    row_number() OVER (
      PARTITION BY chosen_runs.agent_name, chosen_runs.task_id, modes.mode, chosen_runs.success
      ORDER BY chosen_runs.start_time DESC NULLS LAST, chosen_runs.trajectory_id ASC
    ) AS newest_rank
  FROM chosen_runs
  LEFT JOIN modes USING (trajectory_id)
)

SELECT
  trajectory_id,
  trace_id,
  agent_name,
  release,
  task_id,
  min(mode) AS mode,
  success,
  user_input,
  start_time
FROM grouped
WHERE $trajectories::VARCHAR[] IS NOT NULL OR newest_rank = 1
GROUP BY ALL
ORDER BY agent_name, task_id, mode, trajectory_id;
