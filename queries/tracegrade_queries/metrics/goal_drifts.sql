-- Attempts that did not succeed and whose last calls had nothing to do with what was left to do.
--
-- A call is off the plan if it serves no sub-goal; of a task without sub-goals whose list of calls
-- (of writes) is complete, if it is a call (a write) that serves no expectation. The last three
-- must be. Source: Harness, "Failure-mode taxonomy"; metrics.md, section 9.
--
-- Reads:
--   attempts
--   calls
--   expected_calls
--   sub_goal_attribution
--   sub_goal_examples
--   sub_goal_results
--   tasks
-- Columns:
--   attempt_id  INTEGER  An attempt to which this can happen; one row each.
--   drifted     BOOLEAN  NULL if it is not known whether a sub-goal was open.
--   call_index  INTEGER  The first of its last calls that are off the plan; NULL if it did not.
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

graphs AS (
  SELECT
    sub_goal_examples.attempt_id,
    open_goals.is_open,
    open_goals.left_open
  FROM sub_goal_examples
  INNER JOIN open_goals USING (example)
),

met AS (
  SELECT
    attempt_id,
    count(DISTINCT position) AS met
  FROM expected_calls
  GROUP BY attempt_id
),

aims AS (
  SELECT
    attempts.attempt_id,
    attempts.success,
    graphs.attempt_id IS NOT NULL AS has_graph,
    tasks.expected_complete = 'writes' AS writes_only,
    if(
      graphs.attempt_id IS NOT NULL,
      graphs.is_open,
      coalesce(met.met, 0) < tasks.expected_count
    ) AS is_open,
    coalesce(
      graphs.left_open,
      concat(tasks.expected_count - coalesce(met.met, 0), ' of the expected calls')
    ) AS left_open
  FROM attempts
  INNER JOIN tasks USING (task_id)
  LEFT JOIN graphs USING (attempt_id)
  LEFT JOIN met USING (attempt_id)
  WHERE
    graphs.attempt_id IS NOT NULL
    OR (tasks.has_expected AND tasks.expected_complete <> 'false')
),

on_plan AS (
  SELECT
    attempt_id,
    call_index
  FROM sub_goal_attribution
  WHERE attempt_id IN (SELECT graphs.attempt_id FROM graphs)
  UNION ALL
  SELECT
    attempt_id,
    call_index
  FROM expected_calls
  WHERE attempt_id NOT IN (SELECT graphs.attempt_id FROM graphs)
  UNION ALL
  SELECT
    calls.attempt_id,
    calls.call_index
  FROM calls
  INNER JOIN aims USING (attempt_id)
  WHERE
    NOT aims.has_graph
    AND aims.writes_only
    AND calls.effect = 'read'
),

last_on_plan AS (
  SELECT
    attempt_id,
    max(call_index) AS call_index
  FROM on_plan
  GROUP BY attempt_id
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
    coalesce(last_on_plan.call_index + 1, 0) AS first_off,
    aims.success IS NOT TRUE
    AND coalesce(call_counts.calls, 0) - coalesce(last_on_plan.call_index + 1, 0) >= 3
    AND aims.is_open AS drifted
  FROM aims
  LEFT JOIN call_counts USING (attempt_id)
  LEFT JOIN last_on_plan USING (attempt_id)
)

SELECT
  attempt_id,
  drifted,
  if(drifted, first_off, NULL) AS call_index,
  if(drifted, concat('the last calls serve nothing, with ', left_open, ' still open'), NULL)
    AS detail
FROM judged;
