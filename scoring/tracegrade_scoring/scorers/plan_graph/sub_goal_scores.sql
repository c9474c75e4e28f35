-- The sub-goal scores of each attempt: coverage, completion, critical path, dependencies, counts.
--
-- Source: [Plan graph], "Sub-goal completion as a metric" (coverage, completion, critical path);
-- docs/metrics.md, section 4.4.
--
-- Reads:
--   attempt_graph_faults
--   attempts
--   calls
--   expression_results
--   graph_variants
--   sub_goal_attribution
--   sub_goal_examples
--   sub_goal_results
--   sub_goal_variants
-- Columns:
--   trajectory_ids                INTEGER[]  Attempts whose scores are equal; each is in one row.
--   sub_goal_coverage             SCORE      Attempted / all. Label: the skipped sub-goals.
--   sub_goal_coverage_weighted    SCORE      The same, by weight.
--   sub_goal_completion           SCORE      Completed / not held before. Label: which graph.
--   sub_goal_completion_weighted  SCORE      The same, by weight.
--   critical_path_completion      SCORE      The same, for the critical sub-goals.
--   critical_path_skipped         SCORE      1 if a critical one was not attempted. Label: which.
--   completion_with_direct_deps   SCORE      Completed, and what it directly waits for.
--   completion_with_all_deps      SCORE      Completed, and all that it waits for.
--   dependency_violation          SCORE      Completed too early / that wait. Label: which.
--   sub_goals_skipped             SCORE      A count. Label: which, as of the next three.
--   sub_goals_failed_inside       SCORE      A count.
--   sub_goals_regressed           SCORE      A count.
--   sub_goals_pre_satisfied       SCORE      A count.
--   off_plan_calls                SCORE      A count.
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
    list_sum(list(weight ORDER BY position)) AS weight,
    list_sum(list(weight ORDER BY position) FILTER (WHERE attempted)) AS attempted_weight,
    list_sum(list(weight ORDER BY position) FILTER (WHERE NOT pre_satisfied))
      AS weight_to_complete,
    list_sum(list(weight ORDER BY position) FILTER (WHERE completed AND NOT pre_satisfied))
      AS completed_weight,
    string_agg(sub_goal, ', ' ORDER BY position) FILTER (WHERE critical AND NOT attempted)
      AS critical_skipped,
    string_agg(sub_goal, ', ' ORDER BY position) FILTER (WHERE dependency_violation)
      AS violating,
    string_agg(sub_goal, ', ' ORDER BY position) FILTER (WHERE NOT attempted) AS skipped,
    string_agg(sub_goal, ', ' ORDER BY position) FILTER (WHERE attempted AND NOT completed)
      AS failed_inside,
    string_agg(sub_goal, ', ' ORDER BY position) FILTER (WHERE regressed) AS lost,
    string_agg(sub_goal, ', ' ORDER BY position) FILTER (WHERE pre_satisfied) AS held_before
  FROM sub_goal_results
  GROUP BY example
),

serving_calls AS (
  SELECT
    attempt_id AS example,
    call_index,
    bool_or(certain) AS certain
  FROM sub_goal_attribution
  WHERE attempt_id IN (SELECT sub_goal_examples.example FROM sub_goal_examples)
  GROUP BY attempt_id, call_index
),

on_plan AS (
  SELECT
    example,
    count(*) AS calls,
    bool_and(certain) AS known
  FROM serving_calls
  GROUP BY example
),

call_counts AS (
  SELECT
    attempt_id,
    count(*) AS calls
  FROM calls
  GROUP BY attempt_id
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
    totals.* EXCLUDE (unjudged),
    totals.unjudged OR (sub_goal_variants.unjudged AND NOT sub_goal_variants.settled) AS unjudged,
    sub_goal_variants.settled AND totals.attempts_known AS coverage_known,
    sub_goal_variants.settled AND totals.completions_known AS completion_known,
    graphs.graph
  FROM totals
  INNER JOIN sub_goal_variants USING (example)
  INNER JOIN graphs USING (task_id, variant)
),

-- Many examples, few different outcomes.
outcomes AS (
  SELECT
    min(example) AS outcome,
    list(example) AS examples,
    * EXCLUDE (example)
  FROM measured
  GROUP BY ALL
),

outcome_examples AS (
  SELECT
    outcome,
    unnest(examples) AS example
  FROM outcomes
),

-- Why the graph of an attempt gives no score, one reason each.
problems AS (
  SELECT
    attempts.attempt_id,
    CASE
      WHEN attempt_graph_faults.in_variants THEN attempt_graph_faults.fault
      WHEN failed_expressions.attempt_id IS NOT NULL THEN 'expression_failed'
    END AS fault,
    CASE
      WHEN attempt_graph_faults.in_variants OR failed_expressions.attempt_id IS NOT NULL THEN NULL
      WHEN attempts.ambiguous THEN 'ambiguous_task'
      WHEN attempts.specified AND sub_goal_examples.attempt_id IS NULL THEN 'no_sub_goals'
      WHEN sub_goal_examples.attempt_id IS NULL THEN 'no_task'
    END AS nothing,
    attempt_graph_faults.fault AS edge_fault,
    sub_goal_examples.example
  FROM attempts
  LEFT JOIN attempt_graph_faults USING (attempt_id)
  LEFT JOIN failed_expressions ON attempts.attempt_id = failed_expressions.attempt_id
  LEFT JOIN sub_goal_examples ON attempts.attempt_id = sub_goal_examples.attempt_id
),

cases AS (
  SELECT
    list(problems.attempt_id) AS trajectory_ids,
    outcome_examples.outcome,
    coalesce(call_counts.calls, 0) - coalesce(on_plan.calls, 0) AS off_plan_calls,
    on_plan.known IS FALSE AS off_plan_hidden,
    -- What reads dependencies has no score where they have a fault.
    if(
      problems.edge_fault IS NULL,
      NULL,
      score_of(NULL, NULL, NULL, problems.edge_fault, NULL, 'static')
    ) AS faulty
  FROM problems
  INNER JOIN outcome_examples USING (example)
  LEFT JOIN on_plan USING (example)
  LEFT JOIN call_counts ON problems.attempt_id = call_counts.attempt_id
  WHERE coalesce(problems.nothing, problems.fault) IS NULL
  GROUP BY ALL
),

graded AS (
  SELECT
    cases.*,
    outcomes.*
  FROM cases
  INNER JOIN outcomes USING (outcome)
),

ungraded AS (
  SELECT
    list(attempt_id) AS trajectory_ids,
    score_of(NULL, NULL, nothing, fault, NULL, if(nothing = 'no_task', NULL, 'static')) AS score
  FROM problems
  WHERE coalesce(nothing, fault) IS NOT NULL
  GROUP BY nothing, fault
)

SELECT
  trajectory_ids,
  goal_score(attempted, total, coverage_known, unjudged, 'no_sub_goals', skipped)
    AS sub_goal_coverage,
  goal_score(
    coalesce(attempted_weight, 0),
    weight,
    coverage_known,
    unjudged,
    'no_sub_goals',
    skipped
  ) AS sub_goal_coverage_weighted,
  goal_score(
    newly_completed,
    total - pre_satisfied,
    completion_known,
    unjudged,
    'pre_satisfied',
    graph
  ) AS sub_goal_completion,
  goal_score(
    coalesce(completed_weight, 0),
    coalesce(weight_to_complete, 0),
    completion_known,
    unjudged,
    'pre_satisfied',
    graph
  ) AS sub_goal_completion_weighted,
  goal_score(
    critical_completed,
    critical_to_complete,
    completion_known,
    unjudged,
    CASE WHEN critical = 0 THEN 'no_critical' ELSE 'pre_satisfied' END,
    NULL
  ) AS critical_path_completion,
  goal_score(
    (critical_skipped IS NOT NULL)::INTEGER,
    (critical > 0)::INTEGER,
    coverage_known,
    unjudged,
    'no_critical',
    critical_skipped
  ) AS critical_path_skipped,
  coalesce(
    faulty,
    goal_score(
      with_direct_deps,
      total - pre_satisfied,
      completion_known,
      unjudged,
      'pre_satisfied',
      NULL
    )
  ) AS completion_with_direct_deps,
  coalesce(
    faulty,
    goal_score(
      with_all_deps,
      total - pre_satisfied,
      completion_known,
      unjudged,
      'pre_satisfied',
      NULL
    )
  ) AS completion_with_all_deps,
  coalesce(
    faulty,
    goal_score(violations, dependents, completion_known, unjudged, 'no_dependents', violating)
  ) AS dependency_violation,
  goal_score(total - attempted, 1, coverage_known, unjudged, NULL, skipped)
    AS sub_goals_skipped,
  goal_score(
    attempted - completed,
    1,
    coverage_known AND completion_known,
    unjudged,
    NULL,
    failed_inside
  ) AS sub_goals_failed_inside,
  goal_score(regressed, 1, completion_known, unjudged, NULL, lost)
    AS sub_goals_regressed,
  goal_score(pre_satisfied, 1, completion_known, unjudged, NULL, held_before)
    AS sub_goals_pre_satisfied,
  score_of(
    off_plan_calls, 1, NULL, if(off_plan_hidden, 'content_missing', NULL), NULL, 'static'
  ) AS off_plan_calls
FROM graded
UNION ALL
SELECT
  trajectory_ids,
  score AS sub_goal_coverage,
  score AS sub_goal_coverage_weighted,
  score AS sub_goal_completion,
  score AS sub_goal_completion_weighted,
  score AS critical_path_completion,
  score AS critical_path_skipped,
  score AS completion_with_direct_deps,
  score AS completion_with_all_deps,
  score AS dependency_violation,
  score AS sub_goals_skipped,
  score AS sub_goals_failed_inside,
  score AS sub_goals_regressed,
  score AS sub_goals_pre_satisfied,
  score AS off_plan_calls
FROM ungraded;
