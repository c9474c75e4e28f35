-- Every score: one row for each trajectory and metric.
--
-- Where a task does not state how few steps it needs, step efficiency and step ratio are worked
-- out here, as they are read, by the optimum that was observed. Source: docs/metrics.md, section
-- 3.1.
--
-- Reads:
--   observed_optima
--   trajectory_scores
-- Columns:
--   trajectory_id  VARCHAR  The trajectory.
--   metric         VARCHAR  Name of the metric: its column in trajectory_scores.
--   value          DOUBLE   The score; NULL unless status is scored.
--   numerator      DOUBLE   What value is the quotient of; NULL unless scored.
--   denominator    DOUBLE   What value is the quotient of; NULL unless scored.
--   status         VARCHAR  scored | not_applicable (nothing to measure) | error (not measurable).
--   label          VARCHAR  What the metric says beside its value; mostly NULL.
--   reason         VARCHAR  Code of why it was not scored; NULL if it was.
--   source         VARCHAR  Who or what the score comes from; mostly NULL.
--   task_id        VARCHAR  Task of the trajectory; NULL if unknown.
--   task_category  VARCHAR  Category of the task; NULL if unknown.
--   release        VARCHAR  `service.version`; NULL if not sent.
--   agent_name     VARCHAR  Name of the agent; NULL if none is named.
--   run_mode       VARCHAR  production | live | mocked; NULL if not declared.
--   sample_weight  DOUBLE   1 / probability that the trace was sampled; at least 1.
--   date           DATE     Date the trace was first received, UTC.
-- Order:
--   trajectory_id, metric
WITH widened AS (
  SELECT
    scored.*,
    observed_optima.optimum,
    scored.actual_steps.value AS steps
  FROM trajectory_scores AS scored
  LEFT JOIN observed_optima
    ON
      scored.task_id = observed_optima.task_id
      AND scored.agent_name IS NOT DISTINCT FROM observed_optima.agent_name
      AND scored.run_mode IS NOT DISTINCT FROM observed_optima.run_mode
),

-- Before a run becomes many rows; both metrics alike, each with what is above and below.
measured AS (
  SELECT
    * EXCLUDE (optimum, steps),
    list_transform(
      [
        { 'score': step_efficiency, 'top': optimum, 'bottom': steps },
        { 'score': step_ratio, 'top': steps, 'bottom': optimum }
      ],
      LAMBDA part: CASE
        WHEN
          NOT coalesce(part['score']['reason'] IN ('no_optimum', 'no_task'), FALSE)
          OR optimum IS NULL
          THEN part['score']
        WHEN optimum = 0
          THEN struct_update(
            part['score'],
            label := concat('extra_steps: ', steps::BIGINT),
            reason := 'optimum_zero'
          )
        ELSE struct_update(
          part['score'],
          value := part['top'] / part['bottom'],
          numerator := part['top'],
          denominator := part['bottom'],
          status := 'scored',
          reason := NULL::VARCHAR,
          source := 'observed'
        )
      END
    ) AS both_scores
  FROM widened
),

filled AS (
  SELECT
    * EXCLUDE (both_scores) REPLACE (
      both_scores[1] AS step_efficiency, both_scores[2] AS step_ratio
    )
  FROM measured
)

SELECT
  trajectory_id,
  metric,
  score.value,
  score.numerator,
  score.denominator,
  score.status,
  score.label,
  score.reason,
  score.source,
  task_id,
  task_category,
  release,
  agent_name,
  run_mode,
  sample_weight,
  date
FROM filled
UNPIVOT (
  score FOR metric IN (
    COLUMNS(
      * EXCLUDE (
        trajectory_id, task_id, task_category, release, agent_name, run_mode, sample_weight,
        date, scorer_version, task_hash, specification_hash, input_hash
      )
    )
  )
)
ORDER BY trajectory_id, metric;
