-- The first plan with any step that each attempt declared: its own graph.
--
-- Reads:
--   plan_numbers
-- Columns:
--   attempt_id    INTEGER  One row each, for attempts that declared one.
--   plan_index    INTEGER  Which of its plans that was.
--   calls_before  INTEGER  Calls of the attempt before it.
--   plan          INTEGER  Number of the plan.
-- Order:
--   none
SELECT
  attempt_id,
  min(plan_index) AS plan_index,
  arg_min(calls_before, plan_index) AS calls_before,
  arg_min(plan, plan_index) AS plan
FROM plan_numbers
WHERE NOT is_empty
GROUP BY attempt_id;
