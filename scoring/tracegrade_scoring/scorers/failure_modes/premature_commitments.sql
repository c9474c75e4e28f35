-- Attempts that committed themselves too early: a write before its prerequisites, or a false
-- claim.
--
-- A write or destructive call that went well is premature if a prerequisite of the sub-goal that
-- it serves is open. It is also premature if it destroys something off the plan before anything of
-- the plan was done. An answer is premature if it says that a critical sub-goal was done, and it
-- was not. Source: [Harness], "Failure-mode taxonomy"; docs/metrics.md, section 9.3.
--
-- Reads:
--   answer_claims
--   call_sub_goals
--   calls
--   off_plan_destructions
--   sub_goal_examples
--   sub_goal_requirements
-- Needs:
--   sub_goal_examples
-- Columns:
--   attempt_id  INTEGER  One row for each attempt that did, or may have done so.
--   call_index  INTEGER  The first such call; NULL if it is the answer, or not known.
--   step_index  INTEGER  Step of the answer in the root trajectory; NULL if it is a call.
--   detail      VARCHAR  The open prerequisite or the claim; NULL if it is not known.
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
    AND NOT calls.failed
    AND calls.status <> 'interrupted'
),

first_calls AS (
  SELECT
    attempt_id,
    min(call_index) FILTER (WHERE known) AS call_index,
    arg_min(detail, (call_index, detail)) FILTER (WHERE known) AS detail
  FROM early_calls
  GROUP BY attempt_id
),

-- The first call counts, and calls come before the answer.
all_calls AS (
  SELECT
    attempt_id,
    call_index,
    detail
  FROM first_calls
  UNION ALL
  SELECT
    attempt_id,
    call_index,
    detail
  FROM off_plan_destructions
  WHERE by_graph
),

commitments AS (
  SELECT
    attempt_id,
    min(call_index) AS call_index,
    arg_min(detail, (call_index, detail)) AS detail
  FROM all_calls
  GROUP BY attempt_id
)

SELECT
  attempt_id,
  commitments.call_index,
  if(commitments.detail IS NULL, answer_claims.step_index, NULL) AS step_index,
  coalesce(
    commitments.detail,
    'the answer says that sub-goal `' || answer_claims.sub_goal || '` was done, which no call did'
  ) AS detail
FROM commitments
FULL JOIN answer_claims USING (attempt_id);
