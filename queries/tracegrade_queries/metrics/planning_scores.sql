-- How good the plan of each attempt was that it made before it acted, from 0 to 10.
--
-- Each of four questions is worth 2.5; one without any part is met. `pq_strict` takes branch
-- coverage and scope control as all or nothing. A task of 3 and more steps without a plan scores
-- 0, one of 0 or 1 needs none and scores 10, one of 2 has nothing to plan.
-- Source: Triangle, "Axis 2: Planning Quality"; metrics.md, section 5.
--
-- Reads:
--   opening_plans
--   plan_qualities
-- Columns:
--   trajectory_id  VARCHAR  The attempt; one row for each trajectory_id and metric.
--   metric         VARCHAR  pq | pq_strict | pq_partial, and pq_ with the name of each question.
--   value          DOUBLE   Of a question from 0 to 1, else from 0 to 10; NULL if not scored.
--   numerator      DOUBLE   Parts kept; of the three others the value; NULL if not scored.
--   denominator    DOUBLE   Parts; 1 where there are none, and of the three others.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  no_plan, no_plan_needed or nothing_to_judge; else NULL.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  static: no judge had a part in it.
-- Order:
--   none
WITH judged_plans AS (
  SELECT
    opening_plans.attempt_id,
    plan_qualities.* EXCLUDE (task_id, plan_key),
    CASE
      WHEN opening_plans.required < 2 THEN 'no_plan_needed'
      WHEN opening_plans.required = 2 THEN 'two_steps'
      WHEN opening_plans.lost THEN 'content_missing'
      WHEN coalesce(plan_qualities.steps, 0) = 0 THEN 'no_plan'
    END AS exception
  FROM opening_plans
  LEFT JOIN plan_qualities USING (task_id, plan_key)
),

shares AS (
  SELECT
    *,
    CASE
      WHEN dependency_ordering_fault IS NULL
        THEN coalesce(dependency_ordering_kept / nullif(dependency_ordering_total, 0), 1)
    END AS dependency_ordering,
    CASE
      WHEN branch_coverage_fault IS NULL
        THEN coalesce(branch_coverage_kept / nullif(branch_coverage_total, 0), 1)
    END AS branch_coverage,
    CASE
      WHEN scope_control_fault IS NULL
        THEN coalesce(scope_control_kept / nullif(scope_control_total, 0), 1)
    END AS scope_control,
    CASE
      WHEN reversibility_fault IS NULL
        THEN coalesce(reversibility_kept / nullif(reversibility_total, 0), 1)
    END AS reversibility,
    concat_ws(
      ', ',
      dependency_ordering_fault,
      branch_coverage_fault,
      scope_control_fault,
      reversibility_fault
    ) AS faults,
    CASE exception WHEN 'no_plan_needed' THEN 10 WHEN 'no_plan' THEN 0 END AS fixed
  FROM judged_plans
),

-- Sums run in the order of the questions.
wholes AS (
  SELECT
    *,
    10 * (dependency_ordering + branch_coverage + scope_control + reversibility) / 4 AS fractional,
    10 * (
      dependency_ordering + (branch_coverage = 1)::DOUBLE
      + (scope_control = 1)::DOUBLE + reversibility
    ) / 4 AS strict,
    10 * list_avg([dependency_ordering, branch_coverage, scope_control, reversibility]) AS known
  FROM shares
),

metrics AS (
  SELECT
    attempt_id,
    exception,
    unnest([  -- noqa: AL03
      {
        'metric': 'pq',
        'kept': coalesce(fixed, fractional),
        'total': 1,
        'fault': nullif(faults, '')
      },
      {
        'metric': 'pq_strict',
        'kept': coalesce(fixed, strict),
        'total': 1,
        'fault': nullif(faults, '')
      },
      {
        'metric': 'pq_partial',
        'kept': coalesce(fixed, fractional, known),
        'total': 1,
        'fault': if(known IS NULL, faults, NULL)
      },
      {
        'metric': 'pq_dependency_ordering',
        'kept': dependency_ordering_kept,
        'total': dependency_ordering_total,
        'fault': dependency_ordering_fault
      },
      {
        'metric': 'pq_branch_coverage',
        'kept': branch_coverage_kept,
        'total': branch_coverage_total,
        'fault': branch_coverage_fault
      },
      {
        'metric': 'pq_scope_control',
        'kept': scope_control_kept,
        'total': scope_control_total,
        'fault': scope_control_fault
      },
      {
        'metric': 'pq_reversibility',
        'kept': reversibility_kept,
        'total': reversibility_total,
        'fault': reversibility_fault
      }
    ], recursive := TRUE)
  FROM wholes
),

judged AS (
  SELECT
    *,
    metric IN ('pq', 'pq_strict', 'pq_partial') AS is_whole,
    CASE
      WHEN exception = 'content_missing' THEN 'error'
      WHEN exception = 'two_steps' THEN 'not_applicable'
      WHEN exception IS NOT NULL THEN if(is_whole, 'scored', 'not_applicable')
      WHEN fault IS NOT NULL THEN 'error'
      ELSE 'scored'
    END AS status
  FROM metrics
)

SELECT
  attempt_id AS trajectory_id,
  metric,
  CASE WHEN status = 'scored' THEN if(total = 0, 1, kept / total) END AS value,  -- noqa: RF04
  CASE WHEN status = 'scored' THEN if(total = 0, 1, kept) END::DOUBLE AS numerator,
  CASE WHEN status = 'scored' THEN if(total = 0, 1, total) END::DOUBLE AS denominator,
  status,
  CASE
    WHEN status = 'scored' THEN coalesce(exception, if(total = 0, 'nothing_to_judge', NULL))
  END AS label,  -- noqa: RF04
  CASE WHEN status <> 'scored' THEN coalesce(exception, fault) END AS reason,
  if(status = 'scored', 'static', NULL) AS source  -- noqa: RF04
FROM judged;
