-- Attempts that did not succeed and whose last calls had nothing to do with what was left to do.
--
-- A call is off the plan if it serves no sub-goal; of a task without sub-goals whose list of calls
-- (of writes) is complete, if it is a call (a write) that serves no expectation. The last three
-- must be, or one that destroys before anything of the plan was done.
-- Source: [Harness], "Failure-mode taxonomy"; docs/metrics.md, section 9.5.
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

last_serving AS (
  SELECT
    attempt_id AS example,
    max(call_index) AS call_index
  FROM sub_goal_attribution
  WHERE attempt_id IN (SELECT sub_goal_examples.example FROM sub_goal_examples)
  GROUP BY attempt_id
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
    count(DISTINCT position) AS met,
    max(call_index) AS call_index
  FROM expected_calls
  WHERE attempt_id IN (SELECT lists.attempt_id FROM lists)
  GROUP BY attempt_id
),

reads AS (
  SELECT
    calls.attempt_id,
    max(calls.call_index) AS call_index
  FROM calls
  INNER JOIN lists USING (attempt_id)
  WHERE
    lists.writes_only
    AND NOT calls.may_change
  GROUP BY calls.attempt_id
),

aims AS (
  SELECT
    sub_goal_examples.attempt_id,
    attempts.success,
    open_goals.is_open,
    open_goals.left_open,
    last_serving.call_index AS last_on_plan
  FROM sub_goal_examples
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN open_goals USING (example)
  LEFT JOIN last_serving USING (example)
  UNION ALL
  SELECT
    lists.attempt_id,
    lists.success,
    coalesce(met.met, 0) < lists.expected_count AS is_open,
    concat(lists.expected_count - coalesce(met.met, 0), ' of the expected calls') AS left_open,
    greatest(met.call_index, reads.call_index) AS last_on_plan
  FROM lists
  LEFT JOIN met USING (attempt_id)
  LEFT JOIN reads USING (attempt_id)
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
    coalesce(aims.last_on_plan + 1, 0) AS first_off,
    coalesce(call_counts.calls, 0) - coalesce(aims.last_on_plan + 1, 0) >= 3 AS strayed,
    destructions.call_index AS destroyed_at,
    destructions.detail AS destroyed,
    destructions.attempt_id IS NOT NULL AND destructions.call_index IS NULL AS may_have_destroyed,
    aims.success IS NOT TRUE AND aims.is_open AS missed
  FROM aims
  LEFT JOIN call_counts USING (attempt_id)
  LEFT JOIN off_plan_destructions AS destructions USING (attempt_id)
),

shown AS (
  SELECT
    *,
    missed AND CASE
      WHEN strayed OR destroyed_at IS NOT NULL THEN TRUE
      WHEN NOT may_have_destroyed THEN FALSE
    END AS drifted,
    if(strayed, least(first_off, destroyed_at), destroyed_at) AS shown_at
  FROM judged
)

SELECT
  attempt_id,
  drifted,
  if(drifted, shown_at, NULL) AS call_index,
  CASE
    WHEN drifted AND shown_at = destroyed_at THEN destroyed
    WHEN drifted
      THEN concat('the last calls do not serve the task: ', left_open, ' still open')
  END AS detail
FROM shown;
