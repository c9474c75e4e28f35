-- Attempts that committed themselves too early: a write or the answer before what it depends on.
--
-- A write or destructive call is premature if a prerequisite of the sub-goal that it serves is
-- open; an answer, if a critical sub-goal is. Source: [Harness], "Failure-mode taxonomy";
-- docs/metrics.md, section 9.3.
--
-- Reads:
--   call_sub_goals
--   calls
--   steps
--   sub_goal_examples
--   sub_goal_requirements
--   sub_goal_results
-- Needs:
--   sub_goal_examples
-- Columns:
--   attempt_id  INTEGER  One row for each attempt that did, or of which it cannot be known.
--   call_index  INTEGER  The first such call; NULL if it is the answer, or not known.
--   step_index  INTEGER  Of the answer in the root trajectory; NULL if it is a call.
--   detail      VARCHAR  What was open; NULL if it is not known.
-- Order:
--   none
WITH early AS (
  SELECT
    serving.example,
    serving.call_index,
    needed.open_until IS NOT NULL AS known,
    concat(' served sub-goal `', serving.sub_goal, '` before `', needed.prerequisite, '` was done')
      AS detail
  FROM call_sub_goals AS serving
  INNER JOIN sub_goal_requirements AS needed USING (example, sub_goal)
  WHERE coalesce(needed.open_until >= serving.call_index, TRUE)
),

early_calls AS (
  SELECT
    calls.attempt_id,
    calls.call_index,
    early.known,
    concat(calls.tool_name, early.detail) AS detail
  FROM early
  INNER JOIN sub_goal_examples USING (example)
  INNER JOIN calls USING (attempt_id, call_index)
  WHERE
    calls.effect IN ('write', 'destructive')
    AND calls.may_change
),

first_calls AS (
  SELECT
    attempt_id,
    min(call_index) FILTER (WHERE known) AS call_index,
    arg_min(detail, (call_index, detail)) FILTER (WHERE known) AS detail
  FROM early_calls
  GROUP BY attempt_id
),

open_critical AS (
  SELECT
    example,
    'answered before sub-goal `' || min(sub_goal) FILTER (WHERE NOT met) || '` was done' AS detail
  FROM sub_goal_results
  WHERE
    critical
    AND NOT coalesce(met, FALSE)
  GROUP BY example
),

answers AS (
  SELECT
    trajectory_id AS attempt_id,
    max(step_index) AS step_index
  FROM steps
  WHERE kind = 'answer'
  GROUP BY trajectory_id
),

early_answers AS (
  SELECT
    answers.attempt_id,
    answers.step_index,
    open_critical.detail
  FROM open_critical
  INNER JOIN sub_goal_examples USING (example)
  INNER JOIN answers USING (attempt_id)
)

-- Calls come before the answer.
SELECT
  attempt_id,
  first_calls.call_index,
  CASE
    WHEN first_calls.detail IS NULL AND early_answers.detail IS NOT NULL
      THEN early_answers.step_index
  END AS step_index,
  coalesce(first_calls.detail, early_answers.detail) AS detail
FROM first_calls
FULL JOIN early_answers USING (attempt_id);
