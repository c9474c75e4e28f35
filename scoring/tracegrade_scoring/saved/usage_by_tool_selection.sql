-- Tokens and cost of a run by its tool-selection accuracy, in each release.
--
-- A run includes its sub-agents and the earlier parts that it continues. Runs that were killed on
-- purpose or replaced by a later run of their trial do not count. Tasks may differ between bands.
-- `report --long` has intervals.
--
-- Reads:
--   attempt_usage
--   killed_runs
--   superseded_runs
--   trajectory_scores
-- Columns:
--   release         VARCHAR  NULL if not sent. One row for each of the first four.
--   agent_name      VARCHAR  NULL if none is named.
--   run_mode        VARCHAR  NULL if unknown.
--   selection       VARCHAR  below 6 | 6 to 9 | above 9, on the axis from 0 to 10. Runs without
--                            tool-selection accuracy are in no row.
--   runs            BIGINT   At least 1.
--   tasks           BIGINT   Known tasks of these runs.
--   token_runs      BIGINT   Runs with a model call that reported tokens.
--   tokens_per_run  DOUBLE   In and out, mean of these; NULL without any.
--   priced_runs     BIGINT   Runs of known cost, in each of their trajectories with model calls.
--   usd_per_run     DOUBLE   Mean of these; NULL without any.
-- Order:
--   release, agent_name, run_mode, selection
WITH graded AS (
  SELECT
    trajectory_scores.*,
    attempt_usage.tokens,
    attempt_usage.cost_usd,
    CASE
      WHEN trajectory_scores.tsa.value < 0.6 THEN 'below 6'
      WHEN trajectory_scores.tsa.value <= 0.9 THEN '6 to 9'
      WHEN trajectory_scores.tsa.value > 0.9 THEN 'above 9'
    END AS selection
  FROM trajectory_scores
  INNER JOIN attempt_usage ON trajectory_scores.trajectory_id = attempt_usage.trajectory_id
  ANTI JOIN superseded_runs ON trajectory_scores.trajectory_id = superseded_runs.trajectory_id
  ANTI JOIN killed_runs ON trajectory_scores.trajectory_id = killed_runs.trajectory_id
)

SELECT
  release,
  agent_name,
  run_mode,
  selection,
  count(*) AS runs,
  count(DISTINCT task_id) AS tasks,
  count(tokens) AS token_runs,
  sum(tokens)::DOUBLE / nullif(count(tokens), 0) AS tokens_per_run,
  count(cost_usd) AS priced_runs,
  sum(cost_usd ORDER BY trajectory_id) / nullif(count(cost_usd), 0) AS usd_per_run
FROM graded
WHERE selection IS NOT NULL
GROUP BY release, agent_name, run_mode, selection
ORDER BY release, agent_name, run_mode, selection;
