-- The sub-goal scores of each attempt: coverage, completion, critical path, dependencies, counts.
--
-- Source: Plan graph text, "Sub-goal completion as a metric" (coverage, completion, critical
-- path); metrics.md, section 4 (weights, what held before, dependencies, off-plan
-- calls).
--
-- Reads:
--   attempts
--   calls
--   expression_results
--   graph_faults
--   graph_nodes
--   graph_variants
--   sub_goal_attribution
--   sub_goal_examples
--   sub_goal_results
--   sub_goal_variants
-- Columns:
--   trajectory_id  VARCHAR  An attempt with a known task; one row for each and metric.
--   metric         VARCHAR  Name of the score.
--   value          DOUBLE   Numerator / denominator; a count is its numerator. NULL if not scored.
--   numerator      DOUBLE   NULL if not scored.
--   denominator    DOUBLE   1 for counts; NULL if not scored.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  Sub-goals that were skipped, violated or lost, in file order; of
--                           completion: the graph, where the task names several. NULL if none.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  static: no judge had a part in it.
-- Order:
--   none
WITH totals AS (
  SELECT
    example,
    count(*) AS total,
    count_if(attempted) AS attempted,
    count_if(completed) AS completed,
    count_if(pre_satisfied) AS pre_satisfied,
    count_if(completed AND NOT pre_satisfied) AS newly_completed,
    count_if(critical) AS critical,
    count_if(critical AND NOT pre_satisfied) AS critical_to_complete,
    count_if(critical AND completed AND NOT pre_satisfied) AS critical_completed,
    count_if(completed AND deps_met AND NOT pre_satisfied) AS with_direct_deps,
    count_if(completed AND all_deps_met AND NOT pre_satisfied) AS with_all_deps,
    count_if(dependent) AS dependents,
    count_if(dependency_violation) AS violations,
    count_if(regressed) AS regressed,
    bool_and(attempted IS NOT NULL) AS attempts_known,
    bool_or(completion_source = 'judge' AND (attempted IS NULL OR completed IS NULL)) AS unjudged,
    bool_and(
      completed IS NOT NULL
      AND ever_completed IS NOT NULL
      AND dependency_violation IS NOT NULL
    ) AS completions_known,
    -- Sums of doubles run in the order of the file, so that they never differ.
    list_sum(list(weight ORDER BY place)) AS weight,
    list_sum(list(weight ORDER BY place) FILTER (WHERE attempted)) AS attempted_weight,
    list_sum(list(weight ORDER BY place) FILTER (WHERE NOT pre_satisfied)) AS weight_to_complete,
    list_sum(list(weight ORDER BY place) FILTER (WHERE completed AND NOT pre_satisfied))
      AS completed_weight,
    string_agg(sub_goal, ', ' ORDER BY place) FILTER (WHERE critical AND NOT attempted)
      AS critical_skipped,
    string_agg(sub_goal, ', ' ORDER BY place) FILTER (WHERE dependency_violation)
      AS violating,
    string_agg(sub_goal, ', ' ORDER BY place) FILTER (WHERE NOT attempted) AS skipped,
    string_agg(sub_goal, ', ' ORDER BY place) FILTER (WHERE attempted AND NOT completed)
      AS failed_inside,
    string_agg(sub_goal, ', ' ORDER BY place) FILTER (WHERE regressed) AS lost,
    string_agg(sub_goal, ', ' ORDER BY place) FILTER (WHERE pre_satisfied) AS held_before
  FROM sub_goal_results
  GROUP BY example
),

serving AS (
  SELECT
    attempt_id,
    call_index,
    bool_or(certain) AS certain
  FROM sub_goal_attribution
  GROUP BY attempt_id, call_index
),

off_plan AS (
  SELECT
    calls.attempt_id,
    count_if(serving.call_index IS NULL) AS calls,
    bool_and(coalesce(serving.certain, TRUE)) AS known
  FROM calls
  LEFT JOIN serving USING (attempt_id, call_index)
  GROUP BY calls.attempt_id
),

described AS (
  SELECT DISTINCT task_id
  FROM graph_nodes
  WHERE counted
),

-- A criterion's expression can fail on the steps of one attempt.
failed_expressions AS (
  SELECT DISTINCT attempt_id
  FROM expression_results
  WHERE
    sub_goal <> ''
    AND holds IS NULL
),

graphs AS (
  SELECT DISTINCT
    task_id,
    variant,
    graph
  FROM graph_variants
),

measured AS (
  SELECT
    totals.*,
    sub_goal_variants.settled AND totals.attempts_known AS coverage_known,
    sub_goal_variants.settled AND totals.completions_known AS completion_known,
    graphs.graph
  FROM totals
  INNER JOIN sub_goal_variants USING (example)
  INNER JOIN graphs USING (task_id, variant)
),

metrics AS (
  SELECT
    example,
    unjudged,
    unnest([  -- noqa: AL03
      {
        'metric': 'sub_goal_coverage',
        'numerator': attempted::DOUBLE,
        'denominator': total::DOUBLE,
        'known': coverage_known,
        'nothing': 'no_sub_goals',
        'label': skipped
      },
      {
        'metric': 'sub_goal_coverage_weighted',
        'numerator': coalesce(attempted_weight, 0),
        'denominator': weight,
        'known': coverage_known,
        'nothing': 'no_sub_goals',
        'label': skipped
      },
      {
        'metric': 'sub_goal_completion',
        'numerator': newly_completed::DOUBLE,
        'denominator': (total - pre_satisfied)::DOUBLE,
        'known': completion_known,
        'nothing': 'pre_satisfied',
        'label': graph
      },
      {
        'metric': 'sub_goal_completion_weighted',
        'numerator': coalesce(completed_weight, 0),
        'denominator': coalesce(weight_to_complete, 0),
        'known': completion_known,
        'nothing': 'pre_satisfied',
        'label': graph
      },
      {
        'metric': 'critical_path_completion',
        'numerator': critical_completed::DOUBLE,
        'denominator': critical_to_complete::DOUBLE,
        'known': completion_known,
        'nothing': CASE WHEN critical = 0 THEN 'no_critical' ELSE 'pre_satisfied' END,
        'label': NULL
      },
      {
        'metric': 'critical_path_skipped',
        'numerator': (critical_skipped IS NOT NULL)::DOUBLE,
        'denominator': (critical > 0)::DOUBLE,
        'known': coverage_known,
        'nothing': 'no_critical',
        'label': critical_skipped
      },
      {
        'metric': 'completion_with_direct_deps',
        'numerator': with_direct_deps::DOUBLE,
        'denominator': (total - pre_satisfied)::DOUBLE,
        'known': completion_known,
        'nothing': 'pre_satisfied',
        'label': NULL
      },
      {
        'metric': 'completion_with_all_deps',
        'numerator': with_all_deps::DOUBLE,
        'denominator': (total - pre_satisfied)::DOUBLE,
        'known': completion_known,
        'nothing': 'pre_satisfied',
        'label': NULL
      },
      {
        'metric': 'dependency_violation',
        'numerator': violations::DOUBLE,
        'denominator': dependents::DOUBLE,
        'known': completion_known,
        'nothing': 'no_dependents',
        'label': violating
      },
      {
        'metric': 'sub_goals_skipped',
        'numerator': (total - attempted)::DOUBLE,
        'denominator': 1,
        'known': coverage_known,
        'nothing': NULL,
        'label': skipped
      },
      {
        'metric': 'sub_goals_failed_inside',
        'numerator': (attempted - completed)::DOUBLE,
        'denominator': 1,
        'known': coverage_known AND completion_known,
        'nothing': NULL,
        'label': failed_inside
      },
      {
        'metric': 'sub_goals_regressed',
        'numerator': regressed::DOUBLE,
        'denominator': 1,
        'known': completion_known,
        'nothing': NULL,
        'label': lost
      },
      {
        'metric': 'sub_goals_pre_satisfied',
        'numerator': pre_satisfied::DOUBLE,
        'denominator': 1,
        'known': completion_known,
        'nothing': NULL,
        'label': held_before
      }
    ], recursive := TRUE)
  FROM measured
),

judged AS (
  SELECT
    *,
    CASE
      WHEN NOT known THEN if(unjudged, 'not_applicable', 'error')
      WHEN denominator = 0 THEN 'not_applicable'
      ELSE 'scored'
    END AS status,
    CASE
      WHEN NOT known THEN if(unjudged, 'not_judged', 'content_missing')
      WHEN denominator = 0 THEN nothing
    END AS reason
  FROM metrics
),

problems AS (
  SELECT
    attempts.attempt_id,
    if(
      graph_faults.fault IS NULL AND failed_expressions.attempt_id IS NULL,
      'not_applicable',
      'error'
    ) AS status,
    CASE
      WHEN graph_faults.fault IS NOT NULL THEN 'specification_error: ' || graph_faults.fault
      WHEN failed_expressions.attempt_id IS NOT NULL THEN 'expression_failed'
      WHEN attempts.ambiguous THEN 'ambiguous_task'
      ELSE 'no_sub_goals'
    END AS reason
  FROM attempts
  LEFT JOIN graph_faults USING (task_id)
  LEFT JOIN described USING (task_id)
  LEFT JOIN failed_expressions USING (attempt_id)
  WHERE
    attempts.ambiguous
    OR (
      attempts.specified
      AND (described.task_id IS NULL OR failed_expressions.attempt_id IS NOT NULL)
    )
),

names AS (
  SELECT unnest([
    'sub_goal_coverage', 'sub_goal_coverage_weighted', 'sub_goal_completion',
    'sub_goal_completion_weighted', 'critical_path_completion', 'critical_path_skipped',
    'completion_with_direct_deps', 'completion_with_all_deps', 'dependency_violation',
    'sub_goals_skipped', 'sub_goals_failed_inside', 'sub_goals_regressed',
    'sub_goals_pre_satisfied', 'off_plan_calls'
  ]) AS metric
),

all_scores AS (
  SELECT
    sub_goal_examples.attempt_id,
    judged.metric,
    judged.numerator,
    judged.denominator,
    judged.status,
    judged.label,
    judged.reason
  FROM sub_goal_examples
  INNER JOIN judged USING (example)
  ANTI JOIN problems ON sub_goal_examples.attempt_id = problems.attempt_id
  UNION ALL
  SELECT
    sub_goal_examples.attempt_id,
    'off_plan_calls' AS metric,
    coalesce(off_plan.calls, 0)::DOUBLE AS numerator,
    1 AS denominator,
    if(off_plan.known IS DISTINCT FROM FALSE, 'scored', 'error') AS status,
    NULL AS label,
    if(off_plan.known IS DISTINCT FROM FALSE, NULL, 'content_missing') AS reason
  FROM sub_goal_examples
  LEFT JOIN off_plan ON sub_goal_examples.attempt_id = off_plan.attempt_id
  ANTI JOIN problems ON sub_goal_examples.attempt_id = problems.attempt_id
  UNION ALL
  SELECT
    problems.attempt_id,
    names.metric,
    NULL AS numerator,
    NULL AS denominator,
    problems.status,
    NULL AS label,
    problems.reason
  FROM problems
  CROSS JOIN names
)

SELECT  -- noqa: ST06
  attempt_id AS trajectory_id,
  metric,
  CASE WHEN status = 'scored' THEN numerator / denominator END AS value,  -- noqa: RF04
  CASE WHEN status = 'scored' THEN numerator END AS numerator,
  CASE WHEN status = 'scored' THEN denominator END AS denominator,
  status,
  CASE WHEN status = 'scored' THEN label END AS label,  -- noqa: RF04
  reason,
  'static' AS source  -- noqa: RF04
FROM all_scores;
