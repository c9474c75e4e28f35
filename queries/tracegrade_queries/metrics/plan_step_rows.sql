-- What became of the steps of each attempt's own first plan.
--
-- Two kinds of evidence, either of which counts: a call that serves the step (named by id on the
-- span, else of the step's tool), and what the plan and the plans after it mark.
--
-- Reads:
--   calls
--   plan_firsts
--   plan_items
--   plan_pairs
--   plans
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id and place.
--   place       INTEGER  Of the step in the first plan, from 0.
--   attempted   BOOLEAN  A call served it, or it was marked as begun or finished.
--   completed   BOOLEAN  Such a call succeeded, or the last mark says finished.
--   measurable  BOOLEAN  The trace could have said so: the step has a tool, or an id where calls
--                        of the attempt name any, or a plan of the attempt has marks.
-- Order:
--   none
WITH own_steps AS (
  SELECT
    plan_firsts.attempt_id,
    plan_firsts.plan_index,
    plan_firsts.calls_before,
    plan_items.place,
    plan_items.id,
    plan_items.tool_name,
    plan_items.status,
    plan_items.plan_key
  FROM plan_firsts
  INNER JOIN plan_items USING (plan_key)
),

known_ids AS (
  SELECT DISTINCT
    attempt_id,
    id
  FROM own_steps
  WHERE id IS NOT NULL
),

later_calls AS (
  SELECT
    calls.attempt_id,
    calls.sub_goal,
    calls.tool_name,
    calls.failed,
    known_ids.id IS NOT NULL AS named
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

by_calls AS (
  SELECT
    own_steps.attempt_id,
    own_steps.place,
    bool_or(NOT later_calls.failed) AS succeeded
  FROM own_steps
  INNER JOIN later_calls
    ON
      own_steps.attempt_id = later_calls.attempt_id
      AND CASE
        WHEN later_calls.named THEN own_steps.id = later_calls.sub_goal
        ELSE own_steps.tool_name = later_calls.tool_name
      END
  GROUP BY own_steps.attempt_id, own_steps.place
),

marks AS (
  SELECT
    attempt_id,
    place,
    plan_index,
    status
  FROM own_steps
  UNION ALL
  SELECT
    own_steps.attempt_id,
    own_steps.place,
    plans.plan_index,
    plan_items.status
  FROM own_steps
  INNER JOIN plans
    ON
      own_steps.attempt_id = plans.attempt_id
      AND own_steps.plan_index < plans.plan_index
  INNER JOIN plan_pairs
    ON
      own_steps.plan_key = plan_pairs.first_plan
      AND own_steps.place = plan_pairs.place
      AND plans.plan_key = plan_pairs.later_plan
  INNER JOIN plan_items
    ON
      plan_pairs.later_plan = plan_items.plan_key
      AND plan_pairs.later_place = plan_items.place
),

by_marks AS (
  SELECT
    attempt_id,
    place,
    bool_or(status <> 'open') AS begun,
    arg_max(status = 'finished', plan_index) AS finished
  FROM marks
  WHERE status IS NOT NULL
  GROUP BY attempt_id, place
),

evidence AS (
  SELECT
    plan_firsts.attempt_id,
    bool_or(plan_items.status IS NOT NULL) AS marked
  FROM plan_firsts
  INNER JOIN plans USING (attempt_id)
  INNER JOIN plan_items ON plans.plan_key = plan_items.plan_key
  GROUP BY plan_firsts.attempt_id
),

naming AS (
  SELECT DISTINCT attempt_id
  FROM calls
  WHERE sub_goal IS NOT NULL
)

SELECT
  own_steps.attempt_id,
  own_steps.place,
  by_calls.attempt_id IS NOT NULL OR coalesce(by_marks.begun, FALSE) AS attempted,
  coalesce(by_calls.succeeded, FALSE) OR coalesce(by_marks.finished, FALSE) AS completed,
  evidence.marked
  OR own_steps.tool_name IS NOT NULL
  OR (own_steps.id IS NOT NULL AND naming.attempt_id IS NOT NULL) AS measurable
FROM own_steps
INNER JOIN evidence USING (attempt_id)
LEFT JOIN naming USING (attempt_id)
LEFT JOIN by_calls USING (attempt_id, place)
LEFT JOIN by_marks USING (attempt_id, place);
