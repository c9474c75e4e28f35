-- How good the plan of each attempt was that it made before it acted, from 0 to 10.
--
-- Each of four questions is worth 2.5; one without any part is met. `pq_strict` takes branch
-- coverage and scope control as all or nothing. A task of 3 and more steps without a plan scores
-- 0, one of 0 or 1 needs none and scores 10, one of 2 has nothing to plan.
-- Source: [Triangle], "Axis 2: Planning Quality"; docs/metrics.md, section 5.
--
-- Reads:
--   attempts
--   opening_plans
--   plan_qualities
-- Columns:
--   trajectory_ids          INTEGER[]  Attempts whose scores are equal; each is in one row.
--   pq                      SCORE      Its label: no_plan or no_plan_needed, as of the next two.
--   pq_strict               SCORE      With branch coverage and scope control all or nothing.
--   pq_partial              SCORE      Over the questions that have an answer.
--   pq_dependency_ordering  SCORE      Parts kept / parts; label nothing_to_judge where there are
--                                      none.
--   pq_branch_coverage      SCORE      Likewise.
--   pq_scope_control        SCORE      Likewise.
--   pq_reversibility        SCORE      Likewise.
-- Order:
--   none
WITH judged_plans AS (
  SELECT
    attempts.attempt_id,
    plan_qualities.*,
    CASE
      WHEN opening_plans.required IS NULL THEN 'length_unknown'
      WHEN opening_plans.required < 2 THEN 'no_plan_needed'
      WHEN opening_plans.required = 2 THEN 'two_steps'
      WHEN opening_plans.lost THEN 'content_missing'
      WHEN coalesce(plan_qualities.steps, 0) = 0 THEN 'no_plan'
    END AS exception
  FROM attempts
  LEFT JOIN opening_plans USING (attempt_id)
  LEFT JOIN plan_qualities
    ON
      opening_plans.task_id = plan_qualities.task_id
      AND opening_plans.plan_key = plan_qualities.plan_key
),

-- Many attempts, few different answers.
cases AS (
  SELECT
    list(attempt_id) AS trajectory_ids,
    * EXCLUDE (attempt_id, task_id, plan_key, steps)
  FROM judged_plans
  GROUP BY ALL
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
  FROM cases
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

explained AS (
  SELECT
    *,
    if(exception IN ('length_unknown', 'two_steps'), exception, NULL) AS nothing,
    if(exception <> 'content_missing', exception, NULL) AS nothing_asked,
    if(exception = 'content_missing', exception, NULL) AS lost,
    if(exception IN ('no_plan_needed', 'no_plan'), exception, NULL) AS label,  -- noqa: RF04
    CASE WHEN exception IS NULL THEN nullif(faults, '') END AS fault
  FROM wholes
)

SELECT
  trajectory_ids,
  planning_score(coalesce(fixed, fractional), 1, nothing, coalesce(lost, fault), label) AS pq,
  planning_score(coalesce(fixed, strict), 1, nothing, coalesce(lost, fault), label) AS pq_strict,
  planning_score(
    coalesce(fixed, fractional, known),
    1,
    nothing,
    coalesce(lost, if(known IS NULL, fault, NULL)),
    label
  ) AS pq_partial,
  planning_score(
    dependency_ordering_kept,
    dependency_ordering_total,
    nothing_asked,
    coalesce(lost, dependency_ordering_fault),
    NULL
  ) AS pq_dependency_ordering,
  planning_score(
    branch_coverage_kept,
    branch_coverage_total,
    nothing_asked,
    coalesce(lost, branch_coverage_fault),
    NULL
  ) AS pq_branch_coverage,
  planning_score(
    scope_control_kept,
    scope_control_total,
    nothing_asked,
    coalesce(lost, scope_control_fault),
    NULL
  ) AS pq_scope_control,
  planning_score(
    reversibility_kept,
    reversibility_total,
    nothing_asked,
    coalesce(lost, reversibility_fault),
    NULL
  ) AS pq_reversibility
FROM explained;
