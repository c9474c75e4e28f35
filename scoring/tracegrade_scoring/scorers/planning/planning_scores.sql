-- Quality of the plan that each attempt made before it acted, from 0 to 10.
--
-- Each of four questions is worth 2.5; a question without any part is met. `pq_strict` takes
-- branch coverage and scope control as all or nothing. A task of 3 or more steps without a plan
-- scores 0, one of 0 or 1 needs none and scores 10, and one of 2 has nothing to plan. People's
-- answers come before the rule, and a judge's answers count where the rule has none. A plan that
-- was judged exists, whether or not it can be read. Source: [Triangle], "Axis 2: Planning
-- Quality"; docs/metrics.md, section 5.
--
-- Reads:
--   attempts
--   opening_plans
--   plan_qualities
--   planning_verdicts
-- Columns:
--   trajectory_ids          INTEGER[]  Attempts whose scores are equal; each is in one row.
--   pq                      SCORE      Its label: no_plan or no_plan_needed, as of the next two.
--                                      Their source: static, unless a verdict answers one of the
--                                      questions; then verifier, evaluation or judge, the last.
--   pq_strict               SCORE      With branch coverage and scope control all or nothing.
--   pq_partial              SCORE      Over the questions that have an answer.
--   pq_dependency_ordering  SCORE      Parts met / parts; label nothing_to_judge where there are
--                                      none. For a verdict, its share of 1.
--   pq_branch_coverage      SCORE      As pq_dependency_ordering.
--   pq_scope_control        SCORE      As pq_dependency_ordering.
--   pq_reversibility        SCORE      As pq_dependency_ordering.
-- Order:
--   none
WITH judged_plans AS (
  SELECT
    attempts.attempt_id,
    plan_qualities.*,
    planning_verdicts.dependency_ordering_rank,
    planning_verdicts.dependency_ordering_share,
    planning_verdicts.branch_coverage_rank,
    planning_verdicts.branch_coverage_share,
    planning_verdicts.scope_control_rank,
    planning_verdicts.scope_control_share,
    planning_verdicts.reversibility_rank,
    planning_verdicts.reversibility_share,
    CASE
      WHEN opening_plans.required < 2 THEN 'no_plan_needed'
      WHEN opening_plans.required = 2 THEN 'two_steps'
      WHEN planning_verdicts.answered THEN NULL
      WHEN opening_plans.required IS NULL THEN 'length_unknown'
      WHEN opening_plans.lost THEN 'content_missing'
      WHEN plan_qualities.steps > 0 THEN NULL
      WHEN opening_plans.declared AND plan_qualities.in_words THEN 'plan_unreadable'
      ELSE 'no_plan'
    END AS exception
  FROM attempts
  LEFT JOIN opening_plans USING (attempt_id)
  LEFT JOIN plan_qualities
    ON
      opening_plans.task_id = plan_qualities.task_id
      AND opening_plans.plan_key = plan_qualities.plan_key
  LEFT JOIN planning_verdicts ON attempts.attempt_id = planning_verdicts.attempt_id
),

-- Many attempts, few different answers.
cases AS (
  SELECT
    list(attempt_id) AS trajectory_ids,
    * EXCLUDE (attempt_id, task_id, plan_key, steps, in_words)
    REPLACE (
      -- The rules have no result for a plan without a readable step.
      if(steps > 0, dependency_ordering_met, NULL) AS dependency_ordering_met,
      if(steps > 0, branch_coverage_met, NULL) AS branch_coverage_met,
      if(steps > 0, scope_control_met, NULL) AS scope_control_met,
      if(steps > 0, reversibility_met, NULL) AS reversibility_met
    )
  FROM judged_plans
  GROUP BY ALL
),

answers AS (
  SELECT
    trajectory_ids,
    exception,
    planning_answer(
      'dependency_ordering',
      dependency_ordering_met,
      dependency_ordering_total,
      dependency_ordering_fault,
      dependency_ordering_rank,
      dependency_ordering_share
    ) AS dependency_ordering,
    planning_answer(
      'branch_coverage',
      branch_coverage_met,
      branch_coverage_total,
      branch_coverage_fault,
      branch_coverage_rank,
      branch_coverage_share
    ) AS branch_coverage,
    planning_answer(
      'scope_control',
      scope_control_met,
      scope_control_total,
      scope_control_fault,
      scope_control_rank,
      scope_control_share
    ) AS scope_control,
    planning_answer(
      'reversibility',
      reversibility_met,
      reversibility_total,
      reversibility_fault,
      reversibility_rank,
      reversibility_share
    ) AS reversibility
  FROM cases
),

-- Sums run in the order of the questions.
wholes AS (
  SELECT
    *,
    [dependency_ordering, branch_coverage, scope_control, reversibility] AS four,
    10
    * (
      dependency_ordering.share + branch_coverage.share
      + scope_control.share + reversibility.share
    )
    / 4 AS fractional,
    10
    * (
      dependency_ordering.share + (branch_coverage.share = 1)::DOUBLE
      + (scope_control.share = 1)::DOUBLE + reversibility.share
    )
    / 4 AS strict,
    10 * list_avg(list_transform(four, LAMBDA answer: answer.share)) AS known,
    CASE exception WHEN 'no_plan_needed' THEN 10 WHEN 'no_plan' THEN 0 END AS fixed,
    list_transform(
      list_filter(four, LAMBDA answer: answer.fault IS NULL),
      LAMBDA answer: answer.source
    ) AS sources
  FROM answers
),

explained AS (
  SELECT
    *,
    if(exception IN ('length_unknown', 'two_steps'), exception, NULL) AS nothing,
    if(exception IN ('content_missing', 'plan_unreadable'), NULL, exception) AS not_applicable,
    if(exception IN ('content_missing', 'plan_unreadable'), exception, NULL) AS lost,
    if(exception IN ('no_plan_needed', 'no_plan'), exception, NULL) AS label,  -- noqa: RF04
    CASE
      WHEN exception IS NULL
        THEN
          nullif(
            array_to_string(list_transform(four, LAMBDA answer: answer.fault), ', '),
            ''
          )
    END AS fault,
    CASE
      WHEN exception IS NOT NULL THEN 'static'
      WHEN list_contains(sources, 'judge') THEN 'judge'
      WHEN list_contains(sources, 'evaluation') THEN 'evaluation'
      WHEN list_contains(sources, 'verifier') THEN 'verifier'
      ELSE 'static'
    END AS source  -- noqa: RF04
  FROM wholes
)

SELECT
  trajectory_ids,
  planning_score(coalesce(fixed, fractional), 1, nothing, coalesce(lost, fault), label, source)
    AS pq,
  planning_score(coalesce(fixed, strict), 1, nothing, coalesce(lost, fault), label, source)
    AS pq_strict,
  planning_score(
    coalesce(fixed, fractional, known),
    1,
    nothing,
    coalesce(lost, if(known IS NULL, fault, NULL)),
    label,
    source
  ) AS pq_partial,
  planning_score(
    dependency_ordering.met,
    dependency_ordering.total,
    not_applicable,
    coalesce(lost, dependency_ordering.fault),
    NULL,
    dependency_ordering.source
  ) AS pq_dependency_ordering,
  planning_score(
    branch_coverage.met,
    branch_coverage.total,
    not_applicable,
    coalesce(lost, branch_coverage.fault),
    NULL,
    branch_coverage.source
  ) AS pq_branch_coverage,
  planning_score(
    scope_control.met,
    scope_control.total,
    not_applicable,
    coalesce(lost, scope_control.fault),
    NULL,
    scope_control.source
  ) AS pq_scope_control,
  planning_score(
    reversibility.met,
    reversibility.total,
    not_applicable,
    coalesce(lost, reversibility.fault),
    NULL,
    reversibility.source
  ) AS pq_reversibility
FROM explained;
