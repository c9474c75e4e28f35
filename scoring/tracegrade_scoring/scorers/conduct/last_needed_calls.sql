-- The last call of each attempt that its task can have needed: what follows came too late.
--
-- It is a write, or serves a sub-goal, or belongs to a decision point that met an expectation.
-- Sub-goals are those of the task's graph; where it has none, what spans name.
-- Source: docs/metrics.md, section 3.4.
--
-- Reads:
--   decision_points_of_calls
--   calls
--   expected_calls
--   sub_goal_attribution
--   sub_goal_examples
-- Columns:
--   attempt_id  INTEGER  One row for each attempt with such a call.
--   call_index  INTEGER  The call.
-- Order:
--   none
WITH needed AS (
  SELECT
    attempt_id,
    call_index
  FROM calls
  WHERE
    effect IN ('write', 'destructive')
    AND may_change
  UNION ALL
  SELECT
    attempt_id,
    call_index
  FROM sub_goal_attribution
  WHERE certain
  UNION ALL
  SELECT
    decision_points_of_calls.attempt_id,
    decision_points_of_calls.call_index
  FROM decision_points_of_calls
  ANTI JOIN sub_goal_examples USING (attempt_id)
  WHERE decision_points_of_calls.sub_goal IS NOT NULL
  UNION ALL
  SELECT
    attempt_id,
    call_index
  FROM expected_calls
)

SELECT
  attempt_id,
  max(call_index) AS call_index
FROM needed
GROUP BY attempt_id;
