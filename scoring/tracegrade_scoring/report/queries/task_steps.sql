-- Mean steps of the runs of each task, including the steps of their sub-agents.
--
-- Reads:
--   run_members
--   trajectories
--   trajectory_scores
-- Columns:
--   release        VARCHAR  One row for each release, agent_name, run_mode and task_id.
--   agent_name     VARCHAR  NULL if the trace names none.
--   run_mode       VARCHAR  As the trace says: production | live | mocked; else NULL.
--   task_id        VARCHAR  Never NULL: runs without a task are left out.
--   runs           BIGINT   Runs; at least 1.
--   steps_per_run  DOUBLE   Mean steps of a run.
-- Order:
--   agent_name, run_mode, release, task_id
WITH run_steps AS (
  SELECT
    run_members.root_id,
    sum(trajectories.step_count) AS steps
  FROM run_members
  INNER JOIN trajectories USING (trajectory_id)
  GROUP BY run_members.root_id
)

SELECT
  trajectory_scores.release,
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  trajectory_scores.task_id,
  count(*) AS runs,
  sum(run_steps.steps)::DOUBLE / count(run_steps.steps) AS steps_per_run
FROM trajectory_scores
INNER JOIN run_steps ON trajectory_scores.trajectory_id = run_steps.root_id
WHERE trajectory_scores.task_id IS NOT NULL
GROUP BY
  trajectory_scores.release,
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  trajectory_scores.task_id
ORDER BY
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  trajectory_scores.release,
  trajectory_scores.task_id;
