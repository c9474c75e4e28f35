-- The replans of each attempt: plans that changed the steps which remained.
--
-- Reads:
--   plan_changes
--   plan_comparisons
-- Needs:
--   plan_changes
-- Columns:
--   attempt_id    INTEGER  The attempt.
--   plan_index    INTEGER  The plan that was new; one row for each attempt_id and plan_index.
--   calls_before  INTEGER  Calls of the attempt before it.
--   reactive      BOOLEAN  A call failed since the plan before it; else it was spontaneous.
-- Order:
--   none
SELECT
  plan_changes.attempt_id,
  plan_changes.plan_index,
  plan_changes.calls_before,
  plan_changes.failures > 0 AS reactive
FROM plan_changes
INNER JOIN plan_comparisons USING (plan_before, plan_after, done_sub_goals, done_tools)
WHERE plan_comparisons.is_replan;
