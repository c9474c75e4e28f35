-- Every score: one row for each trajectory and metric.
--
-- Where nobody says how few steps a task needs, its optimum is observed here, in what is read now:
-- the fewest steps of a successful attempt at it by the same agent in the same run mode, in all
-- releases that are read, if there are three. Source: metrics.md, section 3.
--
-- Reads:
--   trajectory_scores
-- Columns:
--   trajectory_id  VARCHAR  One row for each trajectory_id and metric.
--   metric         VARCHAR  Name of the metric.
--   value          DOUBLE   NULL unless scored.
--   numerator      DOUBLE   NULL unless scored.
--   denominator    DOUBLE   NULL unless scored.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  What the metric says beside its value; mostly NULL.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  Who or what the score comes from.
--   task_id        VARCHAR  NULL if no task is known.
--   task_category  VARCHAR  NULL if not known.
--   release        VARCHAR  NULL if not sent.
--   agent_name     VARCHAR  NULL if none is named.
--   run_mode       VARCHAR  production | live | mocked; NULL if not said.
--   sample_weight  DOUBLE   1 / probability of being sampled.
--   date           DATE     Date the trace was first received, UTC.
-- Order:
--   trajectory_id, metric
WITH observed_optima AS (
  SELECT
    agent_name,
    run_mode,
    task_id,
    min(actual_steps.value) AS observed_optimum
  FROM trajectory_scores
  WHERE
    success.value = 1
    AND actual_steps.value IS NOT NULL
    AND task_id IS NOT NULL
  GROUP BY agent_name, run_mode, task_id
  HAVING count(*) >= 3
),

widened AS (
  SELECT
    trajectory_scores.*,
    observed_optima.observed_optimum,
    trajectory_scores.actual_steps.value AS steps_made
  FROM trajectory_scores
  LEFT JOIN observed_optima
    ON
      trajectory_scores.task_id = observed_optima.task_id
      AND trajectory_scores.agent_name IS NOT DISTINCT FROM observed_optima.agent_name
      AND trajectory_scores.run_mode IS NOT DISTINCT FROM observed_optima.run_mode
),

all_scores AS (
  SELECT
    * EXCLUDE (score),
    unnest(score),  -- noqa: AL03
    metric IN ('step_efficiency', 'step_ratio')
    AND coalesce(score.reason IN ('no_optimum', 'no_task'), FALSE)
    AND observed_optimum IS NOT NULL AS observed
  FROM widened
  UNPIVOT (
    score FOR metric IN (
      COLUMNS(
        * EXCLUDE (
          trajectory_id, task_id, task_category, release, agent_name, run_mode, sample_weight,
          date, scorer_version, task_hash, specification_hash, input_hash,
          observed_optimum, steps_made
        )
      )
    )
  )
),

filled AS (
  SELECT
    *,
    CASE
      WHEN NOT observed OR observed_optimum = 0 THEN NULL
      -- No successful attempt needed fewer.
      WHEN metric = 'step_efficiency' THEN observed_optimum
      ELSE steps_made
    END AS observed_numerator,
    if(metric = 'step_efficiency', steps_made, observed_optimum) AS observed_denominator
  FROM all_scores
)

SELECT
  trajectory_id,
  metric,
  coalesce(observed_numerator / observed_denominator, value) AS value,  -- noqa: RF04
  coalesce(observed_numerator, numerator) AS numerator,
  if(observed_numerator IS NULL, denominator, observed_denominator) AS denominator,
  if(observed_numerator IS NULL, status, 'scored') AS status,
  if(observed AND observed_optimum = 0, concat('extra_steps: ', steps_made::BIGINT), label)
    AS label,  -- noqa: RF04
  CASE
    WHEN observed_numerator IS NOT NULL THEN NULL
    WHEN observed THEN 'optimum_zero'
    ELSE reason
  END AS reason,
  if(observed_numerator IS NULL, source, 'observed') AS source,  -- noqa: RF04
  task_id,
  task_category,
  release,
  agent_name,
  run_mode,
  sample_weight,
  date
FROM filled
ORDER BY trajectory_id, metric;
