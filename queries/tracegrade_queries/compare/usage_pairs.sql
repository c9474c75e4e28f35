-- What each task that both releases ran took on either side: tokens, money and steps.
--
-- A run counts with its sub-agents; one that does not report a quantity is left out of it.
--
-- Reads:
--   compared_runs
--   trajectories
-- Columns:
--   agent_name             VARCHAR  NULL if the trace names none.
--   run_mode               VARCHAR  NULL if the trace does not say.
--   metric                 VARCHAR  tokens_per_run | cost_usd_per_run | steps_per_run.
--   task_id                VARCHAR  One row for each of the four; never NULL.
--   base_numerator         DOUBLE   Sum over the runs that report it; NULL if none does.
--   base_denominator       DOUBLE   Runs that report it.
--   base_runs              BIGINT   Runs.
--   candidate_numerator    DOUBLE   As for the base, likewise below.
--   candidate_denominator  DOUBLE   Likewise.
--   candidate_runs         BIGINT   Likewise.
-- Order:
--   agent_name, run_mode, metric, task_id
WITH RECURSIVE members AS (
  SELECT
    trajectory_id AS root_id,
    trajectory_id
  FROM compared_runs
  WHERE is_root AND task_id IS NOT NULL
  UNION
  SELECT
    members.root_id,
    trajectories.trajectory_id
  FROM members
  INNER JOIN trajectories ON members.trajectory_id = trajectories.parent_trajectory_id
),

run_usage AS (
  SELECT
    members.root_id,
    sum(trajectories.input_tokens) AS input_tokens,
    sum(trajectories.output_tokens) AS output_tokens,
    -- A member of unknown cost leaves the run's unknown; one without model calls has none.
    CASE
      WHEN
        count(*) FILTER (
          WHERE trajectories.cost_usd IS NULL AND trajectories.llm_call_count > 0
        ) = 0
        THEN sum(trajectories.cost_usd ORDER BY trajectories.trajectory_id)
    END AS cost_usd,
    sum(trajectories.step_count) AS steps
  FROM members
  INNER JOIN trajectories USING (trajectory_id)
  GROUP BY members.root_id
),

quantities AS (
  SELECT
    root_id,
    unnest(['tokens_per_run', 'cost_usd_per_run', 'steps_per_run'])
      AS metric,
    unnest([
      CASE
        WHEN input_tokens IS NOT NULL OR output_tokens IS NOT NULL
          THEN coalesce(input_tokens, 0) + coalesce(output_tokens, 0)
      END,
      cost_usd,
      steps
    ]::DOUBLE[]) AS amount
  FROM run_usage
),

side_sums AS (
  SELECT
    compared_runs.agent_name,
    compared_runs.run_mode,
    compared_runs.task_id,
    compared_runs.side,
    quantities.metric,
    sum(quantities.amount ORDER BY quantities.root_id) AS numerator,
    count(quantities.amount)::DOUBLE AS denominator,
    count(*) AS runs
  FROM compared_runs
  INNER JOIN quantities ON compared_runs.trajectory_id = quantities.root_id
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
