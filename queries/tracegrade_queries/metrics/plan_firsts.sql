-- The first plan with any step that each attempt declared: its own graph.
--
-- Reads:
--   plan_texts
--   plans
-- Columns:
--   attempt_id    INTEGER  One row each, for attempts that declared one.
--   plan_index    INTEGER  Which of its plans that was.
--   calls_before  INTEGER  Calls of the attempt before it.
--   plan_key      VARCHAR  Key of the plan.
-- Order:
--   none
SELECT
  plans.attempt_id,
  plans.plan_index,
  plans.calls_before,
  plans.plan_key
FROM plans
INNER JOIN plan_texts USING (plan_key)
WHERE NOT plan_texts.is_empty
QUALIFY row_number() OVER (PARTITION BY plans.attempt_id ORDER BY plans.plan_index) = 1;
