-- Success of each attempt, and its steps beside the fewest that its task needs.
--
-- The optimum is the task's, else the number of expected calls where that list is complete.
-- Source: Harness, "Step efficiency" (it gives both reciprocals); metrics.md, sections 3 and 8.
--
-- Reads:
--   attempt_members
--   attempts
--   calls
--   steps
--   successes
--   tasks
-- Columns:
--   trajectory_id  VARCHAR  The attempt; one row for each trajectory_id and metric.
--   metric         VARCHAR  success | actual_steps | step_efficiency | step_ratio.
--   value          DOUBLE   Numerator / denominator; NULL if not scored.
--   numerator      DOUBLE   NULL if not scored.
--   denominator    DOUBLE   1 for success and actual_steps; NULL if not scored.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  'extra_steps: N' where the optimum is 0; else NULL.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  Of success: who says so. Of the two ratios: annotated | expected.
-- Order:
--   trajectory_id, metric
WITH call_counts AS (
  SELECT
    attempt_id,
    count(*) AS calls
  FROM calls
  GROUP BY attempt_id
),

step_counts AS (
  SELECT
    attempt_members.attempt_id,
    count(*) AS steps
  FROM steps
  INNER JOIN attempt_members USING (trajectory_id)
  GROUP BY attempt_members.attempt_id
),

counted AS (
  SELECT
    attempts.attempt_id,
    attempts.success,
    attempts.success_source,
    successes.verifier_failed,
    attempts.ambiguous,
    attempts.specified,
    coalesce(if(tasks.count_steps = 'all', step_counts.steps, call_counts.calls), 0) AS actual,
    CASE
      WHEN tasks.optimal_steps IS NOT NULL THEN tasks.optimal_steps
      WHEN tasks.has_expected AND tasks.expected_complete = 'true' THEN tasks.expected_count
    END AS optimum,
    if(tasks.optimal_steps IS NOT NULL, 'annotated', 'expected') AS optimum_source
  FROM attempts
  INNER JOIN successes USING (attempt_id)
  LEFT JOIN tasks USING (task_id)
  LEFT JOIN call_counts ON attempts.attempt_id = call_counts.attempt_id
  LEFT JOIN step_counts ON attempts.attempt_id = step_counts.attempt_id
),

explained AS (
  SELECT
    *,
    if(verifier_failed, 'verifier_failed', NULL) AS error,
    CASE
      WHEN success IS NULL THEN 'success_unknown'
      WHEN NOT success THEN 'failed'
      WHEN ambiguous THEN 'ambiguous_task'
      WHEN NOT specified THEN 'no_task'
      WHEN optimum IS NULL THEN 'no_optimum'
      WHEN optimum = 0 THEN 'optimum_zero'
    END AS not_applicable
  FROM counted
),

metrics AS (
  SELECT
    attempt_id,
    unnest([
      {
        'metric': 'success',
        'numerator': success::INTEGER,
        'denominator': 1,
        'not_applicable': if(success IS NULL, 'success_unknown', NULL),
        'error': error,
        'label': NULL,
        'source': success_source
      },
      {
        'metric': 'actual_steps',
        'numerator': actual,
        'denominator': 1,
        'not_applicable': NULL,
        'error': NULL,
        'label': NULL,
        'source': 'static'
      },
      {
        'metric': 'step_efficiency',
        'numerator': least(optimum, actual),
        'denominator': actual,
        'not_applicable': coalesce(not_applicable, if(actual = 0, 'no_steps', NULL)),
        'error': error,
        'label': if(not_applicable = 'optimum_zero', concat('extra_steps: ', actual), NULL),
        'source': optimum_source
      },
      {
        'metric': 'step_ratio',
        'numerator': actual,
        'denominator': optimum,
        'not_applicable': not_applicable,
        'error': error,
        'label': if(not_applicable = 'optimum_zero', concat('extra_steps: ', actual), NULL),
        'source': optimum_source
      }
    ]) AS score
  FROM explained
),

judged AS (
  SELECT
    attempt_id,
    score,
    CASE
      WHEN score.error IS NOT NULL THEN 'error'
      WHEN score.not_applicable IS NOT NULL THEN 'not_applicable'
      ELSE 'scored'
    END AS status
  FROM metrics
)

SELECT
  attempt_id AS trajectory_id,
  score.metric,
  if(status = 'scored', score.numerator / score.denominator, NULL)::DOUBLE AS value,
  if(status = 'scored', score.numerator, NULL)::DOUBLE AS numerator,
  if(status = 'scored', score.denominator, NULL)::DOUBLE AS denominator,
  status,
  if(status = 'error', NULL, score.label) AS label,
  CASE status WHEN 'error' THEN score.error WHEN 'not_applicable' THEN score.not_applicable END
    AS reason,
  if(status = 'scored', score.source, NULL) AS source
FROM judged
ORDER BY trajectory_id, score.metric;
