-- How far each attempt got with its own first plan; never mixed with the task's sub-goals.
--
-- Source: metrics.md, section 4, "The agent's own plan".
--
-- Reads:
--   attempts
--   plan_step_rows
--   plans
-- Columns:
--   trajectory_id  VARCHAR  An attempt that declared a plan; one row for each and metric.
--   metric         VARCHAR  plan_completion | plan_coverage.
--   value          DOUBLE   Numerator / denominator, in [0, 1]; NULL if not scored.
--   numerator      DOUBLE   Steps completed, steps attempted; NULL if not scored.
--   denominator    DOUBLE   Steps of the first plan; NULL if not scored.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  NULL.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  static: no judge had a part in it.
-- Order:
--   none
WITH declared AS (
  SELECT
    attempt_id,
    count(*) = count(plan) AS captured
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
      WHEN NOT declared.captured THEN 'content_missing'
      WHEN totals.steps IS NULL THEN 'empty_plan'
      WHEN NOT totals.measurable THEN 'no_attribution'
    END AS reason
  FROM attempts
  INNER JOIN declared USING (attempt_id)
  LEFT JOIN totals USING (attempt_id)
),

metrics AS (
  SELECT
    attempt_id,
    steps,
    reason,
    unnest([  -- noqa: AL03
      {
        'metric': 'plan_coverage',
        'reached': attempted
      },
      {
        'metric': 'plan_completion',
        'reached': completed
      }
    ], recursive := TRUE)
  FROM measured
)

SELECT  -- noqa: ST06
  attempt_id AS trajectory_id,
  metric,
  CASE WHEN reason IS NULL THEN reached / steps END AS value,  -- noqa: RF04
  CASE WHEN reason IS NULL THEN reached END AS numerator,
  CASE WHEN reason IS NULL THEN steps END AS denominator,
  CASE
    WHEN reason IS NULL THEN 'scored'
    WHEN reason = 'content_missing' THEN 'error'
    ELSE 'not_applicable'
  END AS status,
  NULL::VARCHAR AS label,  -- noqa: RF04
  reason,
  'static' AS source  -- noqa: RF04
FROM metrics;
