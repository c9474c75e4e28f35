-- Attempts that did not succeed, left the plan, and did not come back to what was left to do.
--
-- A call is off the plan if it serves no sub-goal. If a task has no sub-goals and its list of
-- calls (of writes) is complete, a call (a write) that meets no expectation is off the plan. Three
-- in direct succession must be, with none after them that serves what was open then, or one that
-- destroys before anything of the plan was done. Source: [Harness], "Failure-mode taxonomy";
-- docs/metrics.md, section 9.5.
--
-- Reads:
--   attempts
--   calls
--   expected_calls
--   off_plan_destructions
--   own_expectations
--   sub_goal_attribution
--   sub_goal_examples
--   sub_goal_results
--   sub_goal_states
--   tasks
-- Needs:
--   sub_goal_examples or tasks WHERE has_expected
-- Columns:
--   attempt_id  INTEGER  An attempt to which this can happen; one row each.
--   drifted     BOOLEAN  NULL if it is not known whether a sub-goal was open.
--   call_index  INTEGER  The first call that shows it; NULL if it did not.
--   detail      VARCHAR  What was left to do; NULL if it did not.
-- Order:
--   none
WITH open_goals AS (
  SELECT
    example,
    CASE WHEN bool_or(NOT met) THEN TRUE WHEN count(met) = count(*) THEN FALSE END AS is_open,
    min(sub_goal) FILTER (WHERE NOT met) AS left_open
  FROM sub_goal_results
  GROUP BY example
),

lists AS (
  SELECT
    attempts.attempt_id,
    attempts.success,
    coalesce(len(own_expectations.positions), tasks.expected_count) AS expected_count,
    tasks.expected_complete = 'writes' AS writes_only
  FROM attempts
  INNER JOIN tasks USING (task_id)
  LEFT JOIN own_expectations ON attempts.attempt_id = own_expectations.attempt_id
  WHERE
    tasks.has_expected
    AND tasks.expected_complete <> 'false'
    AND attempts.attempt_id NOT IN (SELECT sub_goal_examples.attempt_id FROM sub_goal_examples)
),

met AS (
  SELECT
    attempt_id,
    count(DISTINCT position) AS met
  FROM expected_calls
  WHERE attempt_id IN (SELECT lists.attempt_id FROM lists)
  GROUP BY attempt_id
),

-- Where each plan was followed; all of them were before the first call.
followed AS (
  SELECT
    example,
    -1 AS call_index,
    TRUE AS serves_open
  FROM open_goals
  UNION ALL
  SELECT
    serving.attempt_id AS example,
    serving.call_index,
    bool_or(
      NOT coalesce(
        states.by_step AND states.completed AND states.first_completed < serving.call_index, FALSE
      )
    ) AS serves_open
  FROM sub_goal_attribution AS serving
  LEFT JOIN sub_goal_states AS states
    ON serving.attempt_id = states.example AND serving.sub_goal = states.sub_goal
  WHERE serving.attempt_id IN (SELECT open_goals.example FROM open_goals)
  GROUP BY serving.attempt_id, serving.call_index
  UNION ALL
  SELECT
    attempt_id AS example,
    -1 AS call_index,
    TRUE AS serves_open
  FROM lists
  UNION ALL
  SELECT
    attempt_id AS example,
    call_index,
    TRUE AS serves_open
  FROM expected_calls
  WHERE attempt_id IN (SELECT lists.attempt_id FROM lists)
  UNION ALL
  SELECT
    calls.attempt_id AS example,
    calls.call_index,
    FALSE AS serves_open
  FROM calls
  INNER JOIN lists USING (attempt_id)
  LEFT JOIN expected_calls
    ON
      calls.attempt_id = expected_calls.attempt_id
      AND calls.call_index = expected_calls.call_index
  WHERE
    lists.writes_only
    AND NOT calls.may_change
    AND expected_calls.call_index IS NULL
),

returns AS (
  SELECT
    *,
    lead(call_index) OVER own_plan - call_index > 3 AS detour_after,
    max(call_index) FILTER (WHERE serves_open) OVER (PARTITION BY example) AS last_needed
  FROM followed
  WINDOW own_plan AS (PARTITION BY example ORDER BY call_index)
),

detours AS (
  SELECT
    example,
    min(call_index) FILTER (WHERE detour_after AND call_index >= last_needed) + 1 AS first_off,
    max(call_index) + 1 AS off_at_last
  FROM returns
  GROUP BY example
),

aims AS (
  SELECT
    sub_goal_examples.attempt_id,
    sub_goal_examples.example,
    attempts.success,
    open_goals.is_open,
    open_goals.left_open
  FROM sub_goal_examples
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN open_goals USING (example)
  UNION ALL
  SELECT
    lists.attempt_id,
    lists.attempt_id AS example,
    lists.success,
    coalesce(met.met, 0) < lists.expected_count AS is_open,
    concat(lists.expected_count - coalesce(met.met, 0), ' of the expected calls') AS left_open
  FROM lists
  LEFT JOIN met USING (attempt_id)
),

call_counts AS (
  SELECT
    attempt_id,
    count(*)::INTEGER AS calls
  FROM calls
  GROUP BY attempt_id
),

judged AS (
  SELECT
    aims.attempt_id,
    aims.left_open,
    coalesce(
      detours.first_off,
      if(coalesce(call_counts.calls, 0) - detours.off_at_last >= 3, detours.off_at_last, NULL)
    ) AS strayed_at,
    destructions.call_index AS destroyed_at,
    destructions.detail AS destroyed,
    destructions.attempt_id IS NOT NULL AND destructions.call_index IS NULL AS may_have_destroyed,
    aims.success IS NOT TRUE AND aims.is_open AS missed
  FROM aims
  INNER JOIN detours USING (example)
  LEFT JOIN call_counts USING (attempt_id)
  LEFT JOIN off_plan_destructions AS destructions USING (attempt_id)
),

drifts AS (
  SELECT
    *,
    missed AND CASE
      WHEN coalesce(strayed_at, destroyed_at) IS NOT NULL THEN TRUE
      WHEN NOT may_have_destroyed THEN FALSE
    END AS drifted,
    least(strayed_at, destroyed_at) AS first_at
  FROM judged
)

SELECT
  attempt_id,
  drifted,
  if(drifted, first_at, NULL) AS call_index,
  CASE
    WHEN drifted AND first_at = destroyed_at THEN destroyed
    WHEN drifted
      THEN concat('calls off the plan, and none after them served it: ', left_open, ' still open')
  END AS detail
FROM drifts;
