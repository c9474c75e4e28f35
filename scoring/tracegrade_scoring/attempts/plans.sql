-- The plans that the agent of each attempt declared, in order.
--
-- Plans of sub-agents are their own and not among these.
--
-- Reads:
--   attempt_order
--   steps
-- Needs:
--   attempt_order WHERE kind = 'plan'
-- Columns:
--   attempt_id    INTEGER  The root trajectory, which declared the plan.
--   plan_index    INTEGER  Dense from 0; one row for each attempt_id and plan_index.
--   step_index    INTEGER  Of the plan in the root trajectory.
--   calls_before  INTEGER  Tool calls of the attempt before the plan, those of sub-agents too.
--   plan          VARCHAR  JSON as declared, or made from a list in prose; NULL if it is not
--                          known.
--   plan_key      VARCHAR  The same for equal texts, and short; NULL where plan is.
--   fault         VARCHAR  Why the plan is not known: content_missing, or plan_unreadable if its
--                          text is not a list; NULL if the plan is known.
-- Order:
--   none
SELECT
  attempt_order.attempt_id,
  (
    row_number() OVER (PARTITION BY attempt_order.attempt_id ORDER BY steps.step_index) - 1
  )::INTEGER AS plan_index,
  steps.step_index,
  attempt_order.calls_before,
  steps.plan,
  md5(steps.plan) AS plan_key,
  CASE
    WHEN steps.plan IS NOT NULL THEN NULL
    WHEN steps.content IS NULL THEN 'content_missing'
    ELSE 'plan_unreadable'
  END AS fault
FROM attempt_order
INNER JOIN steps USING (trajectory_id, step_index)
WHERE
  attempt_order.kind = 'plan'
  AND attempt_order.attempt_id = attempt_order.trajectory_id;
