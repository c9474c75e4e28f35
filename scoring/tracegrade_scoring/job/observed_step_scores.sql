-- Step efficiency and step ratio of each trajectory, as readers see them.
--
-- If a task does not state how few steps it needs, both are computed here from the observed
-- optimum. Source: docs/metrics.md, section 3.1.
--
-- Reads:
--   observed_optima
--   trajectory_scores
-- Columns:
--   trajectory_id    VARCHAR  One row each.
--   step_efficiency  SCORE    As in trajectory_scores, or by the observed optimum.
--   step_ratio       SCORE    As step_efficiency.
--   task_id          VARCHAR  Task of the trajectory; NULL if unknown.
--   task_category    VARCHAR  Category of the task; NULL if unknown.
--   release          VARCHAR  As in `trajectories`; NULL if not sent.
--   agent_name       VARCHAR  Name of the agent; NULL if none is named.
--   run_mode         VARCHAR  production | live | mocked; NULL if not declared.
--   sample_weight    DOUBLE   1 / probability that the trace was sampled; at least 1.
--   date             DATE     Date the trace was first received, UTC.
-- Order:
--   trajectory_id
WITH widened AS (
  SELECT
    scored.trajectory_id,
    scored.step_efficiency,
    scored.step_ratio,
    scored.task_id,
    scored.task_category,
    scored.release,
    scored.agent_name,
    scored.run_mode,
    scored.sample_weight,
    scored.date,
    observed_optima.optimum,
    scored.actual_steps.value AS steps
  FROM trajectory_scores AS scored
  LEFT JOIN observed_optima
    ON
      scored.task_id = observed_optima.task_id
      AND scored.agent_name IS NOT DISTINCT FROM observed_optima.agent_name
      AND scored.run_mode IS NOT DISTINCT FROM observed_optima.run_mode
),

-- Both metrics in the same way, each with its numerator and denominator.
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
)

SELECT
  trajectory_id,
  both_scores[1] AS step_efficiency,
  both_scores[2] AS step_ratio,
  task_id,
  task_category,
  release,
  agent_name,
  run_mode,
  sample_weight,
  date
FROM measured
ORDER BY trajectory_id;
