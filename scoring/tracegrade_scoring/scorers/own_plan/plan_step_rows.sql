-- Outcomes of the steps of each attempt's own first plan.
--
-- Either of two kinds of evidence counts: a call that serves the step (named by id on the span,
-- else of the step's tool), or the marks in the plan and in later plans.
--
-- Reads:
--   calls
--   plan_firsts
--   plan_items
--   plan_numbers
--   plan_pairs
-- Needs:
--   plan_firsts
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id and position.
--   position    INTEGER  Position of the step in the first plan, from 0.
--   attempted   BOOLEAN  A call served it, or it was marked as begun or finished.
--   completed   BOOLEAN  Such a call succeeded, or the last mark says finished.
--   measurable  BOOLEAN  The trace could show it: the step has a tool, or an id where calls of the
--                        attempt name any, or a plan of the attempt has marks.
-- Order:
--   none
WITH own_steps AS (
  SELECT
    plan_firsts.attempt_id,
    plan_firsts.plan_index,
    plan_items.position,
    plan_items.id,
    plan_items.tool_name,
    plan_items.status,
    plan_items.plan
  FROM plan_firsts
  INNER JOIN plan_items USING (plan)
),

naming AS (
  SELECT DISTINCT attempt_id
  FROM calls
  WHERE sub_goal IS NOT NULL
),

known_ids AS (
  SELECT DISTINCT
    attempt_id,
    id
  FROM own_steps
  WHERE
    id IS NOT NULL
    AND attempt_id IN (SELECT naming.attempt_id FROM naming)
),

later_calls AS (
  SELECT
    calls.attempt_id,
    calls.tool_name,
    calls.failed OR calls.status = 'interrupted' AS failed,
    known_ids.id
  FROM calls
  INNER JOIN plan_firsts
    ON
      calls.attempt_id = plan_firsts.attempt_id
      AND calls.call_index >= plan_firsts.calls_before
  LEFT JOIN known_ids
    ON
      calls.attempt_id = known_ids.attempt_id
      AND calls.sub_goal = known_ids.id
),

serving AS (
  SELECT
    own_steps.attempt_id,
    own_steps.position,
    later_calls.failed
  FROM own_steps
  INNER JOIN later_calls USING (attempt_id, id)
  UNION ALL
  SELECT
    own_steps.attempt_id,
    own_steps.position,
    later_calls.failed
  FROM own_steps
  INNER JOIN later_calls USING (attempt_id, tool_name)
  WHERE later_calls.id IS NULL
),

by_calls AS (
  SELECT
    attempt_id,
    position,
    bool_or(NOT failed) AS succeeded
  FROM serving
  GROUP BY attempt_id, position
),

by_later_marks AS (
  SELECT
    own_steps.attempt_id,
    own_steps.position,
    bool_or(plan_pairs.status <> 'open') AS begun,
    arg_max(plan_pairs.status = 'finished', plan_numbers.plan_index) AS finished
  FROM own_steps
  INNER JOIN plan_numbers
    ON
      own_steps.attempt_id = plan_numbers.attempt_id
      AND own_steps.plan_index < plan_numbers.plan_index
  INNER JOIN plan_pairs
    ON
      own_steps.plan = plan_pairs.first_plan
      AND own_steps.position = plan_pairs.position
      AND plan_numbers.plan = plan_pairs.later_plan
  WHERE plan_pairs.status IS NOT NULL
  GROUP BY own_steps.attempt_id, own_steps.position
),

evidence AS (
  SELECT
    attempt_id,
    bool_or(is_marked) AS marked
  FROM plan_numbers
  GROUP BY attempt_id
)

SELECT
  own_steps.attempt_id,
  own_steps.position,
  by_calls.attempt_id IS NOT NULL
  OR coalesce(own_steps.status <> 'open', FALSE)
  OR coalesce(by_later_marks.begun, FALSE) AS attempted,
  coalesce(by_calls.succeeded, FALSE)
  OR coalesce(by_later_marks.finished, own_steps.status = 'finished', FALSE) AS completed,
  evidence.marked
  OR own_steps.tool_name IS NOT NULL
  OR (own_steps.id IS NOT NULL AND naming.attempt_id IS NOT NULL) AS measurable
FROM own_steps
INNER JOIN evidence USING (attempt_id)
LEFT JOIN naming USING (attempt_id)
LEFT JOIN by_calls USING (attempt_id, position)
LEFT JOIN by_later_marks USING (attempt_id, position);
