-- The plans that the agent of each attempt declared, as users' own metrics read them: `plans`.
--
-- Reads:
--   plans
--   trajectory_ids
-- As:
--   view
-- Columns:
--   attempt_id    VARCHAR  The root trajectory, which declared the plan.
--   plan_index    INTEGER  Dense from 0; one row for each attempt_id and plan_index.
--   step_index    INTEGER  Of the plan in the root trajectory.
--   calls_before  INTEGER  Tool calls of the attempt before the plan, those of sub-agents too.
--   plan          VARCHAR  JSON as declared, or made of a list in words; NULL if it is not known.
--   fault         VARCHAR  Why it is not known: content_missing | plan_unreadable; NULL if it is.
-- Order:
--   attempt_id, plan_index
SELECT
  trajectory_ids.id AS attempt_id,
  plans.plan_index,
  plans.step_index,
  plans.calls_before,
  plans.plan,
  plans.fault
FROM plans
INNER JOIN trajectory_ids ON plans.attempt_id = trajectory_ids.trajectory_id
ORDER BY attempt_id, plans.plan_index;
