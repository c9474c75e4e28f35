-- Each metric of each task that both releases ran, added up on either side.
--
-- Sums add whole multiples of 2^-60, so that the order of rows does not change a bit. They are
-- weighted by sample_weight. Source: docs/metrics.md, sections 0.2 and 10.1.
--
-- `trajectory_scores` holds only compared runs: a join would keep all others to find them. The
-- metrics are added up as columns; rows for each run and metric would take three times as long.
--
-- Reads:
--   custom_scores
--   observed_step_scores
--   trajectory_scores
-- Parameters:
--   $base   VARCHAR    The release before.
--   $means  VARCHAR[]  Metrics whose value for a task is the mean of its runs.
-- Columns:
--   agent_name             VARCHAR  NULL if the trace names none.
--   run_mode               VARCHAR  NULL if the trace does not say.
--   metric                 VARCHAR  Its name; users' own metrics are among them.
--   task_id                VARCHAR  One row for each of the four; never NULL.
--   base_numerator         DOUBLE   Sum over scored trajectories, or the mean of their values;
--                                   NULL if none was scored.
--   base_denominator       DOUBLE   The same for the denominator; 1 for a mean.
--   base_scored            BIGINT   Trajectories scored.
--   base_errors            BIGINT   Trajectories that could not be measured.
--   base_runs              BIGINT   Trajectories.
--   candidate_numerator    DOUBLE   As for the base.
--   candidate_denominator  DOUBLE   As for the base.
--   candidate_scored       BIGINT   As for the base.
--   candidate_errors       BIGINT   As for the base.
--   candidate_runs         BIGINT   As for the base.
-- Order:
--   agent_name, run_mode, metric, task_id
WITH stored AS (
  SELECT
    {
      'agent_name': agent_name,
      'run_mode': run_mode,
      'task_id': task_id,
      'side': if(release = $base, 'base', 'candidate')
    } AS key,
    sample_weight * 1152921504606846976 AS unit,
    * EXCLUDE (
      trajectory_id, task_id, task_category, release, agent_name, run_mode, sample_weight, date,
      scorer_version, task_hash, specification_hash, input_hash, step_efficiency, step_ratio,
      dimensions
    )
  FROM trajectory_scores
  WHERE task_id IS NOT NULL
),

observed AS (
  SELECT
    {
      'agent_name': agent_name,
      'run_mode': run_mode,
      'task_id': task_id,
      'side': if(release = $base, 'base', 'candidate')
    } AS key,
    sample_weight * 1152921504606846976 AS unit,
    step_efficiency,
    step_ratio
  FROM observed_step_scores
  WHERE task_id IS NOT NULL
),

stored_sums AS (
  SELECT
    key,
    struct_pack(
      numerator := sum((unit * COLUMNS(* EXCLUDE (key, unit)).numerator)::HUGEINT),
      denominator := sum((unit * COLUMNS(* EXCLUDE (key, unit)).denominator)::HUGEINT),
      weighted := sum((unit * COLUMNS(* EXCLUDE (key, unit)).value)::HUGEINT),
      weight := sum(if(COLUMNS(* EXCLUDE (key, unit)).value IS NULL, NULL, unit)::HUGEINT),
      scored := count(COLUMNS(* EXCLUDE (key, unit)).value),
      errors := count_if(COLUMNS(* EXCLUDE (key, unit)).status = 'error'),
      runs := count(COLUMNS(* EXCLUDE (key, unit)).status)
    )
  FROM stored
  GROUP BY key
),

observed_sums AS (
  SELECT
    key,
    struct_pack(
      numerator := sum((unit * COLUMNS(* EXCLUDE (key, unit)).numerator)::HUGEINT),
      denominator := sum((unit * COLUMNS(* EXCLUDE (key, unit)).denominator)::HUGEINT),
      weighted := sum((unit * COLUMNS(* EXCLUDE (key, unit)).value)::HUGEINT),
      weight := sum(if(COLUMNS(* EXCLUDE (key, unit)).value IS NULL, NULL, unit)::HUGEINT),
      scored := count(COLUMNS(* EXCLUDE (key, unit)).value),
      errors := count_if(COLUMNS(* EXCLUDE (key, unit)).status = 'error'),
      runs := count(COLUMNS(* EXCLUDE (key, unit)).status)
    )
  FROM observed
  GROUP BY key
),

own_scores AS (
  SELECT
    trajectory_scores.agent_name,
    trajectory_scores.run_mode,
    trajectory_scores.task_id,
    trajectory_scores.release,
    trajectory_scores.sample_weight * 1152921504606846976 AS unit,
    custom_scores.metric,
    custom_scores.score
  FROM custom_scores
  INNER JOIN trajectory_scores USING (trajectory_id)
  WHERE trajectory_scores.task_id IS NOT NULL
),

own_sums AS (
  SELECT
    {
      'agent_name': agent_name,
      'run_mode': run_mode,
      'task_id': task_id,
      'side': if(release = $base, 'base', 'candidate')
    } AS key,
    metric,
    struct_pack(
      numerator := sum((unit * score.numerator)::HUGEINT),
      denominator := sum((unit * score.denominator)::HUGEINT),
      weighted := sum((unit * score.value)::HUGEINT),
      weight := sum(if(score.value IS NULL, NULL, unit)::HUGEINT),
      scored := count(score.value),
      errors := count_if(score.status = 'error'),
      runs := count(score.status)
    ) AS added
  FROM own_scores
  GROUP BY ALL
),

by_metric AS (
  FROM stored_sums
  UNPIVOT (added FOR metric IN (COLUMNS(* EXCLUDE (key))))
  UNION ALL BY NAME
  FROM observed_sums
  UNPIVOT (added FOR metric IN (step_efficiency, step_ratio))
  UNION ALL BY NAME
  FROM own_sums
),

side_sums AS (
  SELECT
    key.agent_name,
    key.run_mode,
    key.task_id,
    key.side,
    metric,
    if(
      metric IN $means,
      added.weighted::DOUBLE / added.weight::DOUBLE,
      added.numerator::DOUBLE / 1152921504606846976
    ) AS numerator,
    if(
      metric IN $means,
      if(added.weight IS NULL, NULL, 1),
      added.denominator::DOUBLE / 1152921504606846976
    ) AS denominator,
    added.scored,
    added.errors,
    added.runs
  FROM by_metric
  WHERE added.runs > 0
)

SELECT
  agent_name,
  run_mode,
  metric,
  task_id,
  any_value(numerator) FILTER (WHERE side = 'base') AS base_numerator,
  any_value(denominator) FILTER (WHERE side = 'base') AS base_denominator,
  any_value(scored) FILTER (WHERE side = 'base')::BIGINT AS base_scored,
  any_value(errors) FILTER (WHERE side = 'base')::BIGINT AS base_errors,
  any_value(runs) FILTER (WHERE side = 'base') AS base_runs,
  any_value(numerator) FILTER (WHERE side = 'candidate') AS candidate_numerator,
  any_value(denominator) FILTER (WHERE side = 'candidate') AS candidate_denominator,
  any_value(scored) FILTER (WHERE side = 'candidate')::BIGINT AS candidate_scored,
  any_value(errors) FILTER (WHERE side = 'candidate')::BIGINT AS candidate_errors,
  any_value(runs) FILTER (WHERE side = 'candidate') AS candidate_runs
FROM side_sums
GROUP BY agent_name, run_mode, metric, task_id
HAVING count(*) = 2
ORDER BY agent_name, run_mode, metric, task_id;
