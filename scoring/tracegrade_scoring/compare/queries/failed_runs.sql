-- The candidate's first failed runs of each task, of the runs that are compared.
--
-- Reads:
--   compared_runs
--   trajectory_scores
-- Columns:
--   agent_name      VARCHAR    NULL if the trace names none.
--   run_mode        VARCHAR    NULL if the trace does not say.
--   task_id         VARCHAR    One row for each of the three, of tasks with a failed run.
--   trajectory_ids  VARCHAR[]  The first three by id, sub-agents' not counted.
-- Order:
--   agent_name, run_mode, task_id
SELECT
  compared_runs.agent_name,
  compared_runs.run_mode,
  compared_runs.task_id,
  list(compared_runs.trajectory_id ORDER BY compared_runs.trajectory_id)[:3] AS trajectory_ids
FROM compared_runs
INNER JOIN trajectory_scores USING (trajectory_id)
WHERE
  compared_runs.counted
  AND compared_runs.side = 'candidate'
  AND compared_runs.is_root
  AND compared_runs.task_id IS NOT NULL
  AND trajectory_scores.success.value = 0
GROUP BY compared_runs.agent_name, compared_runs.run_mode, compared_runs.task_id
ORDER BY compared_runs.agent_name, compared_runs.run_mode, compared_runs.task_id;
