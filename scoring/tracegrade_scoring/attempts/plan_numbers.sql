-- The captured plans of each attempt, with a number for each distinct plan.
--
-- Reads:
--   plan_texts
--   plans
-- Needs:
--   plans
-- Columns:
--   attempt_id    INTEGER  The attempt.
--   plan_index    INTEGER  Of the plan; one row for each attempt_id and plan_index.
--   calls_before  INTEGER  Calls of the attempt before it.
--   plan          INTEGER  The same for equal texts, from 0.
--   canonical     INTEGER  The same for equal JSON, from 0; NULL where no attempt has others.
--   is_empty      BOOLEAN  It has no steps.
--   is_marked     BOOLEAN  It states the progress of a step.
-- Order:
--   none
SELECT
  plans.attempt_id,
  plans.plan_index,
  plans.calls_before,
  plan_texts.plan,
  plan_texts.canonical,
  plan_texts.is_empty,
  plan_texts.is_marked
FROM plans
INNER JOIN plan_texts USING (plan_key);
