-- The candidate's first runs that show each failure mode, of the runs that are compared.
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
--   trajectory_ids  VARCHAR[]  The first three by id.
-- Order:
--   agent_name, run_mode, mode
SELECT
  compared_runs.agent_name,
  compared_runs.run_mode,
  failures.mode,
  min(failures.trajectory_id) AS trajectory_id,
  arg_min_null(failures.span_id, failures.trajectory_id) AS span_id,
  list(DISTINCT failures.trajectory_id ORDER BY failures.trajectory_id)[:3] AS trajectory_ids
FROM failures
INNER JOIN compared_runs USING (trajectory_id)
WHERE
  compared_runs.counted
  AND compared_runs.side = 'candidate'
  AND failures.mode != 'unclassified'
GROUP BY compared_runs.agent_name, compared_runs.run_mode, failures.mode
ORDER BY compared_runs.agent_name, compared_runs.run_mode, failures.mode;
