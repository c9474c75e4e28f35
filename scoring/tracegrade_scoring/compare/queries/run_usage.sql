-- Tokens, money and steps of each compared run.
--
-- A run includes its sub-agents.
--
-- Reads:
--   compared_runs
--   run_members
--   trajectories
-- Columns:
--   trajectory_id  VARCHAR  One row for each run and metric.
--   metric         VARCHAR  tokens_per_run | cost_usd_per_run | steps_per_run.
--   amount         DOUBLE   NULL if unknown.
-- Order:
--   none
WITH consumption AS (
  SELECT
    run_members.root_id,
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
  FROM compared_runs
  INNER JOIN run_members ON compared_runs.trajectory_id = run_members.root_id
  INNER JOIN trajectories ON run_members.trajectory_id = trajectories.trajectory_id
  WHERE compared_runs.is_root AND compared_runs.counted
  GROUP BY run_members.root_id
)

SELECT
  root_id AS trajectory_id,
  unnest(['tokens_per_run', 'cost_usd_per_run', 'steps_per_run']) AS metric,
  unnest([
    CASE
      WHEN input_tokens IS NOT NULL OR output_tokens IS NOT NULL
        THEN coalesce(input_tokens, 0) + coalesce(output_tokens, 0)
    END,
    cost_usd,
    steps
  ]::DOUBLE[]) AS amount
FROM consumption;
