-- The candidate's first run that shows each failure mode, of the tasks that both releases ran.
--
-- Reads:
--   compared_runs
--   failures
-- Columns:
--   agent_name     VARCHAR  NULL if the trace names none.
--   run_mode       VARCHAR  NULL if the trace does not say.
--   mode           VARCHAR  One row for each of the three; unclassified is none.
--   trajectory_id  VARCHAR  The first by id.
--   span_id        VARCHAR  The first span that shows it there; NULL if none does.
-- Order:
--   agent_name, run_mode, mode
WITH base_tasks AS (
  SELECT DISTINCT
    agent_name,
    run_mode,
    task_id
  FROM compared_runs
  WHERE side = 'base'
),

candidate_runs AS (
  SELECT
    compared_runs.agent_name,
    compared_runs.run_mode,
    compared_runs.trajectory_id
  FROM compared_runs
  INNER JOIN base_tasks
    ON
      compared_runs.task_id = base_tasks.task_id
      AND compared_runs.agent_name IS NOT DISTINCT FROM base_tasks.agent_name
      AND compared_runs.run_mode IS NOT DISTINCT FROM base_tasks.run_mode
  WHERE compared_runs.side = 'candidate'
)

SELECT
  candidate_runs.agent_name,
  candidate_runs.run_mode,
  failures.mode,
  min(failures.trajectory_id) AS trajectory_id,
  arg_min_null(failures.span_id, failures.trajectory_id) AS span_id
FROM failures
INNER JOIN candidate_runs USING (trajectory_id)
WHERE failures.mode != 'unclassified'
GROUP BY candidate_runs.agent_name, candidate_runs.run_mode, failures.mode
ORDER BY candidate_runs.agent_name, candidate_runs.run_mode, failures.mode;
