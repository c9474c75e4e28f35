-- Each metric of each task that both releases ran, added up on either side.
--
-- Sums are of whole multiples of 2^-60, so that no order of rows changes a bit. Weighted by
-- sample_weight.
-- Source: docs/metrics.md, sections 0.2 and 10.1.
--
-- `scores` holds those of compared runs alone: a join would keep all of them to look for a run's.
--
-- Reads:
--   scores
-- Parameters:
--   $base  VARCHAR  The release before.
-- Columns:
--   agent_name             VARCHAR  NULL if the trace names none.
--   run_mode               VARCHAR  NULL if the trace does not say.
--   metric                 VARCHAR  Its name in trajectory_scores.
--   task_id                VARCHAR  One row for each of the four; never NULL.
--   base_numerator         DOUBLE   Sum over scored trajectories; NULL if none was scored.
--   base_denominator       DOUBLE   Likewise.
--   base_mean              DOUBLE   Mean of the trajectories' values; NULL if none was scored.
--   base_scored            BIGINT   Trajectories scored.
--   base_errors            BIGINT   Trajectories that could not be measured.
--   base_runs              BIGINT   Trajectories.
--   candidate_numerator    DOUBLE   As for the base, likewise below.
--   candidate_denominator  DOUBLE   Likewise.
--   candidate_mean         DOUBLE   Likewise.
--   candidate_scored       BIGINT   Likewise.
--   candidate_errors       BIGINT   Likewise.
--   candidate_runs         BIGINT   Likewise.
-- Order:
--   agent_name, run_mode, metric, task_id
WITH parts AS (
  SELECT
    agent_name,
    run_mode,
    task_id,
    if(release = $base, 'base', 'candidate') AS side,
    metric,
    status,
    sample_weight * 1152921504606846976 AS unit,
    (unit * numerator)::HUGEINT AS numerator,
    (unit * denominator)::HUGEINT AS denominator,
    (unit * value)::HUGEINT AS weighted,
    if(value IS NULL, NULL, unit)::HUGEINT AS weight
  FROM scores
  WHERE task_id IS NOT NULL
),

side_sums AS (
  SELECT
    agent_name,
    run_mode,
    task_id,
    side,
    metric,
    sum(numerator)::DOUBLE / 1152921504606846976 AS numerator,
    sum(denominator)::DOUBLE / 1152921504606846976 AS denominator,
    sum(weighted)::DOUBLE / sum(weight)::DOUBLE AS mean,
    count_if(status = 'scored') AS scored,
    count_if(status = 'error') AS errors,
    count(*) AS runs
  FROM parts
  GROUP BY agent_name, run_mode, task_id, side, metric
)

SELECT
  agent_name,
  run_mode,
  metric,
  task_id,
  any_value(numerator) FILTER (WHERE side = 'base') AS base_numerator,
  any_value(denominator) FILTER (WHERE side = 'base') AS base_denominator,
  any_value(mean) FILTER (WHERE side = 'base') AS base_mean,
  any_value(scored) FILTER (WHERE side = 'base')::BIGINT AS base_scored,
  any_value(errors) FILTER (WHERE side = 'base')::BIGINT AS base_errors,
  any_value(runs) FILTER (WHERE side = 'base') AS base_runs,
  any_value(numerator) FILTER (WHERE side = 'candidate') AS candidate_numerator,
  any_value(denominator) FILTER (WHERE side = 'candidate') AS candidate_denominator,
  any_value(mean) FILTER (WHERE side = 'candidate') AS candidate_mean,
  any_value(scored) FILTER (WHERE side = 'candidate')::BIGINT AS candidate_scored,
  any_value(errors) FILTER (WHERE side = 'candidate')::BIGINT AS candidate_errors,
  any_value(runs) FILTER (WHERE side = 'candidate') AS candidate_runs
FROM side_sums
GROUP BY agent_name, run_mode, metric, task_id
HAVING count(*) = 2
ORDER BY agent_name, run_mode, metric, task_id;
