-- Each metric of each task that both releases ran, added up on either side.
--
-- Sums run in a fixed order, so that they never differ in a bit. Weighted by sample_weight.
-- Source: metrics.md, section 10 and rule 0.2.
--
-- Reads:
--   compared_runs
--   scores
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
WITH side_sums AS (
  SELECT
    compared_runs.agent_name,
    compared_runs.run_mode,
    compared_runs.task_id,
    compared_runs.side,
    scores.metric,
    sum(scores.sample_weight * scores.numerator ORDER BY scores.trajectory_id) AS numerator,
    sum(scores.sample_weight * scores.denominator ORDER BY scores.trajectory_id) AS denominator,
    sum(scores.sample_weight * scores.value ORDER BY scores.trajectory_id)
    / sum(scores.sample_weight ORDER BY scores.trajectory_id)
    FILTER (WHERE scores.status = 'scored') AS mean,
    count_if(scores.status = 'scored') AS scored,
    count_if(scores.status = 'error') AS errors,
    count(*) AS runs
  FROM compared_runs
  INNER JOIN scores USING (trajectory_id)
  WHERE
    compared_runs.counted
    AND compared_runs.task_id IS NOT NULL
  GROUP BY ALL
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
