-- Every score of one trajectory.
--
-- As the view `scores` has them; the wide row is cut to one trajectory before it becomes many.
--
-- Reads:
--   custom_scores
--   observed_step_scores
--   trajectory_scores
-- Parameters:
--   $trajectory_id  VARCHAR    The trajectory.
--   $date           DATE       The date of its trace, in whose files alone it is looked for.
--   $metrics        VARCHAR[]  Metrics to read, at least one of trajectory_scores; empty for all.
-- Columns:
--   metric       VARCHAR  One row each.
--   value        DOUBLE   NULL unless scored.
--   numerator    DOUBLE   NULL unless scored.
--   denominator  DOUBLE   NULL unless scored.
--   status       VARCHAR  scored | not_applicable | error.
--   label        VARCHAR  Label that the metric gives with its value; mostly NULL.
--   reason       VARCHAR  Why it was not scored; else NULL.
--   source       VARCHAR  Source of the score.
--   task_id      VARCHAR  Scoring's task of the trajectory; NULL if unknown. The same in all rows.
-- Order:
--   metric
WITH stored AS (
  SELECT *
  FROM trajectory_scores
  WHERE date = $date AND trajectory_id = $trajectory_id
),

worked_out AS (
  SELECT *
  FROM observed_step_scores
  WHERE date = $date AND trajectory_id = $trajectory_id
),

own AS (
  SELECT *
  FROM custom_scores
  WHERE date = $date AND trajectory_id = $trajectory_id
),

all_scores AS (
  SELECT
    metric,
    score,
    task_id
  FROM stored
  UNPIVOT (
    score FOR metric IN (
      COLUMNS(
        LAMBDA name: name NOT IN (
          'trajectory_id', 'task_id', 'task_category', 'release', 'agent_name', 'run_mode',
          'sample_weight', 'date', 'scorer_version', 'task_hash', 'specification_hash',
          'input_hash', 'step_efficiency', 'step_ratio', 'dimensions'
        )
        AND (len($metrics::VARCHAR[]) = 0 OR list_contains($metrics::VARCHAR[], name))
      )
    )
  )
  UNION ALL
  SELECT
    metric,
    score,
    task_id
  FROM worked_out
  UNPIVOT (score FOR metric IN (step_efficiency, step_ratio))
  WHERE len($metrics::VARCHAR[]) = 0 OR list_contains($metrics::VARCHAR[], metric)
  UNION ALL
  SELECT
    own.metric,
    own.score,
    stored.task_id
  FROM own
  INNER JOIN stored USING (trajectory_id)
  WHERE
    len($metrics::VARCHAR[]) = 0  -- noqa: RF02
    OR list_contains($metrics::VARCHAR[], own.metric)  -- noqa: RF02
)

SELECT
  metric,
  score.value,
  score.numerator,
  score.denominator,
  score.status,
  score.label,
  score.reason,
  score.source,
  task_id
FROM all_scores
ORDER BY metric;
