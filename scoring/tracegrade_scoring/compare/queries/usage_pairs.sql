-- Tokens, money and steps on either side, for each task that both releases ran.
--
-- A run that does not report a quantity is left out of its sums.
--
-- Reads:
--   compared_runs
--   run_usage
-- Columns:
--   agent_name             VARCHAR  NULL if the trace names none.
--   run_mode               VARCHAR  NULL if the trace does not say.
--   metric                 VARCHAR  tokens_per_run | cost_usd_per_run | steps_per_run.
--   task_id                VARCHAR  One row for each of the four; never NULL.
--   base_numerator         DOUBLE   Sum over the runs that report it; NULL if none does.
--   base_denominator       DOUBLE   Runs that report it.
--   base_runs              BIGINT   Runs.
--   candidate_numerator    DOUBLE   As for the base.
--   candidate_denominator  DOUBLE   As for the base.
--   candidate_runs         BIGINT   As for the base.
-- Order:
--   agent_name, run_mode, metric, task_id
WITH side_sums AS (
  SELECT
    compared_runs.agent_name,
    compared_runs.run_mode,
    compared_runs.task_id,
    compared_runs.side,
    run_usage.metric,
    sum(run_usage.amount ORDER BY run_usage.trajectory_id) AS numerator,
    count(run_usage.amount)::DOUBLE AS denominator,
    count(*) AS runs
  FROM compared_runs
  INNER JOIN run_usage USING (trajectory_id)
  WHERE compared_runs.task_id IS NOT NULL
  GROUP BY ALL
)

SELECT
  agent_name,
  run_mode,
  metric,
  task_id,
  any_value(numerator) FILTER (WHERE side = 'base') AS base_numerator,
  any_value(denominator) FILTER (WHERE side = 'base') AS base_denominator,
  any_value(runs) FILTER (WHERE side = 'base') AS base_runs,
  any_value(numerator) FILTER (WHERE side = 'candidate') AS candidate_numerator,
  any_value(denominator) FILTER (WHERE side = 'candidate') AS candidate_denominator,
  any_value(runs) FILTER (WHERE side = 'candidate') AS candidate_runs
FROM side_sums
GROUP BY agent_name, run_mode, metric, task_id
HAVING count(*) = 2
ORDER BY agent_name, run_mode, metric, task_id;
