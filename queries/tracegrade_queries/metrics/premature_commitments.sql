-- Attempts that committed themselves too early: a write or the answer before what it depends on.
--
-- A write or destructive call is premature if a prerequisite of the sub-goal that it serves is
-- open; an answer, if a critical sub-goal is. Source: Harness, "Failure-mode taxonomy";
-- metrics.md, section 9.
--
-- Reads:
--   call_sub_goals
--   calls
--   steps
--   sub_goal_examples
--   sub_goal_requirements
--   sub_goal_results
-- Columns:
--   attempt_id  INTEGER  One row for each attempt that did, or of which it cannot be known.
--   call_index  INTEGER  The first such call; NULL if it is the answer, or not known.
--   step_index  INTEGER  Of the answer in the root trajectory; NULL if it is a call.
--   detail      VARCHAR  What was open; NULL if it is not known.
-- Order:
--   none
WITH commitments AS (
  SELECT
    calls.attempt_id,
    calls.call_index,
    calls.tool_name,
    call_sub_goals.sub_goal
  FROM calls
  INNER JOIN call_sub_goals USING (attempt_id, call_index)
  WHERE calls.effect IN ('write', 'destructive')
),

early_calls AS (
  SELECT
    commitments.attempt_id,
    commitments.call_index,
    needed.open_until IS NOT NULL AS known,
    concat(
      commitments.tool_name, ' served ', commitments.sub_goal, ' while ',
      needed.prerequisite, ' was open'
    ) AS detail
  FROM commitments
  INNER JOIN sub_goal_requirements AS needed USING (attempt_id, sub_goal)
  WHERE coalesce(needed.open_until >= commitments.call_index, TRUE)
),

open_critical AS (
  SELECT
    example,
    min(sub_goal) FILTER (WHERE NOT met) AS sub_goal
  FROM sub_goal_results
  WHERE
    critical
    AND NOT coalesce(met, FALSE)
  GROUP BY example
),

found AS (
  SELECT
    attempt_id,
    call_index,
    NULL AS step_index,
    if(known, detail, NULL) AS detail
  FROM early_calls
  UNION ALL
  SELECT
    sub_goal_examples.attempt_id,
    NULL AS call_index,
    max(steps.step_index) AS step_index,
    'it answered while ' || any_value(open_critical.sub_goal) || ' was open' AS detail
  FROM open_critical
  INNER JOIN sub_goal_examples USING (example)
  INNER JOIN steps ON sub_goal_examples.attempt_id = steps.trajectory_id
  WHERE steps.kind = 'answer'
  GROUP BY sub_goal_examples.attempt_id
),

-- Calls come before the answer.
ranked AS (
  SELECT
    *,
    coalesce(call_index, 2147483647) AS place
  FROM found
  WHERE detail IS NOT NULL
)

SELECT
  attempt_id,
  min(call_index) AS call_index,
  arg_min_null(step_index, place) AS step_index,
  arg_min(detail, (place, detail)) AS detail
FROM ranked
GROUP BY attempt_id
UNION ALL
SELECT DISTINCT
  attempt_id,
  NULL AS call_index,
  NULL AS step_index,
  NULL AS detail
FROM found
WHERE attempt_id NOT IN (SELECT ranked.attempt_id FROM ranked);
