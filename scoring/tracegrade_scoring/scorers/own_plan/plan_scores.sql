-- Progress of each attempt on its own first plan; never mixed with the task's sub-goals.
--
-- Source: docs/metrics.md, section 4.5.
--
-- Reads:
--   attempts
--   plan_step_rows
--   plans
-- Columns:
--   trajectory_ids   INTEGER[]  Attempts whose scores are equal; each is in one row.
--   plan_coverage    SCORE      Steps of the first plan attempted / its steps.
--   plan_completion  SCORE      Steps of the first plan completed / its steps.
-- Order:
--   none
WITH declared AS (
  SELECT
    attempt_id,
    TRUE AS has_plan,
    min(fault) AS fault  -- content that is missing comes first
  FROM plans
  GROUP BY attempt_id
),

totals AS (
  SELECT
    attempt_id,
    count(*)::DOUBLE AS steps,
    count_if(attempted)::DOUBLE AS attempted,
    count_if(completed)::DOUBLE AS completed,
    bool_or(measurable) AS measurable
  FROM plan_step_rows
  GROUP BY attempt_id
),

measured AS (
  SELECT
    attempts.attempt_id,
    totals.steps,
    totals.attempted,
    totals.completed,
    CASE
      WHEN declared.has_plan IS NULL THEN 'no_plan'
      WHEN declared.fault IS NOT NULL THEN NULL
      WHEN totals.steps IS NULL THEN 'empty_plan'
      WHEN NOT totals.measurable THEN 'no_attribution'
    END AS nothing,
    declared.fault,
    if(declared.has_plan, 'static', NULL) AS source  -- noqa: RF04
  FROM attempts
  LEFT JOIN declared USING (attempt_id)
  LEFT JOIN totals USING (attempt_id)
),

cases AS (
  SELECT
    list(attempt_id) AS trajectory_ids,
    * EXCLUDE (attempt_id)
  FROM measured
  GROUP BY ALL
)

SELECT
  trajectory_ids,
  score_of(attempted, steps, nothing, fault, NULL, source) AS plan_coverage,
  score_of(completed, steps, nothing, fault, NULL, source) AS plan_completion
FROM cases;
