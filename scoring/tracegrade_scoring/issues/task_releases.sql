-- How many runs of each task each release has, and the place of the release.
--
-- Killed runs, runs of sub-agents and runs that a later run superseded are left out. Releases are
-- in the order of their earliest runs, as in a report.
--
-- Reads:
--   superseded_runs
--   trajectories
--   trajectory_scores
-- Columns:
--   agent_name   VARCHAR    NULL if none is named. One row for each agent_name, run_mode, release
--                           and task_id.
--   run_mode     VARCHAR    NULL if not declared.
--   release      VARCHAR    NULL if not sent.
--   position     BIGINT     Place of the release among those of the agent and run mode, from 1.
--   first_start  TIMESTAMP  Start of the earliest run of the release, UTC; NULL if none is known.
--   task_id      VARCHAR    NULL if unknown.
--   runs         BIGINT     At least 1.
-- Order:
--   agent_name, run_mode, position, task_id
WITH attempts AS (
  SELECT
    trajectory_scores.agent_name,
    trajectory_scores.run_mode,
    trajectory_scores.release,
    trajectory_scores.task_id,
    -- Made-up starts of an import begin with the year 2000.
    CASE WHEN trajectories.start_time >= '2001-01-01' THEN trajectories.start_time END AS started
  FROM trajectory_scores
  INNER JOIN trajectories ON trajectory_scores.trajectory_id = trajectories.trajectory_id
  ANTI JOIN superseded_runs ON trajectory_scores.trajectory_id = superseded_runs.trajectory_id
  WHERE
    trajectories.parent_trajectory_id IS NULL
    AND coalesce(trajectory_scores.success.reason NOT IN ('killed_run', 'several_runs'), TRUE)
),

releases AS (
  SELECT
    agent_name,
    run_mode,
    release,
    min(started) AS first_start,
    row_number() OVER (
      PARTITION BY agent_name, run_mode
      ORDER BY min(started) NULLS FIRST, release
    ) AS position
  FROM attempts
  GROUP BY agent_name, run_mode, release
),

tasks AS (
  SELECT
    agent_name,
    run_mode,
    release,
    task_id,
    count(*) AS runs
  FROM attempts
  GROUP BY agent_name, run_mode, release, task_id
)

SELECT
  tasks.agent_name,
  tasks.run_mode,
  tasks.release,
  releases.position,
  releases.first_start,
  tasks.task_id,
  tasks.runs
FROM tasks
INNER JOIN releases
  ON
    tasks.agent_name IS NOT DISTINCT FROM releases.agent_name
    AND tasks.run_mode IS NOT DISTINCT FROM releases.run_mode
    AND tasks.release IS NOT DISTINCT FROM releases.release
ORDER BY tasks.agent_name, tasks.run_mode, releases.position, tasks.task_id;
