-- Every score: one row for each trajectory and metric, users' own metrics among them.
--
-- Reads:
--   custom_scores
--   observed_step_scores
--   trajectory_scores
-- Columns:
--   trajectory_id  VARCHAR  The trajectory.
--   metric         VARCHAR  A column of trajectory_scores, or one in metric_definitions.
--   value          DOUBLE   The score; NULL unless status is scored.
--   numerator      DOUBLE   Numerator of value; NULL unless scored.
--   denominator    DOUBLE   Denominator of value; NULL unless scored.
--   status         VARCHAR  scored | not_applicable (nothing to measure) | error (not measurable).
--   label          VARCHAR  Label that the metric gives with its value; mostly NULL.
--   reason         VARCHAR  Code of why it was not scored; NULL if it was.
--   source         VARCHAR  Source of the score; mostly NULL.
--   task_id        VARCHAR  Task of the trajectory; NULL if unknown.
--   task_category  VARCHAR  Category of the task; NULL if unknown.
--   release        VARCHAR  As in `trajectories`; NULL if not sent.
--   agent_name     VARCHAR  Name of the agent; NULL if none is named.
--   run_mode       VARCHAR  production | live | mocked; NULL if not declared.
--   sample_weight  DOUBLE   1 / probability that the trace was sampled; at least 1.
--   date           DATE     Date the trace was first received, UTC.
-- Order:
--   trajectory_id, metric
WITH as_stored AS (
  FROM trajectory_scores
  UNPIVOT (
    score FOR metric IN (
      COLUMNS(
        LAMBDA name: name NOT IN (
          'trajectory_id', 'task_id', 'task_category', 'release', 'agent_name', 'run_mode',
          'sample_weight', 'date', 'scorer_version', 'task_hash', 'specification_hash',
          'input_hash', 'step_efficiency', 'step_ratio', 'dimensions'
        )
      )
    )
  )
),

as_read AS (
  FROM observed_step_scores
  UNPIVOT (score FOR metric IN (step_efficiency, step_ratio))
),

all_scores AS (
  FROM as_read
  UNION ALL BY NAME
  SELECT
    trajectory_id,
    metric,
    score,
    task_id,
    task_category,
    release,
    agent_name,
    run_mode,
    sample_weight,
    date
  FROM as_stored
  UNION ALL BY NAME
  SELECT
    custom_scores.trajectory_id,
    custom_scores.metric,
    custom_scores.score,
    trajectory_scores.task_id,
    trajectory_scores.task_category,
    trajectory_scores.release,
    trajectory_scores.agent_name,
    trajectory_scores.run_mode,
    trajectory_scores.sample_weight,
    trajectory_scores.date
  FROM custom_scores
  INNER JOIN trajectory_scores USING (trajectory_id, date)
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
FROM all_scores
ORDER BY trajectory_id, metric;
