-- Every plan that followed another in an attempt, and what happened between the two.
--
-- Plans whose content was not captured are left out.
--
-- Reads:
--   calls
--   plan_numbers
-- Needs:
--   plan_numbers GROUP BY attempt_id HAVING count(*) > 1
-- Columns:
--   attempt_id      INTEGER    The attempt.
--   plan_index      INTEGER    Of the later plan; one row for each attempt_id and plan_index.
--   plan_before     INTEGER    Number of the plan before it.
--   plan_after      INTEGER    Number of the later plan.
--   done_sub_goals  VARCHAR[]  Sub-goals of calls that succeeded between them, sorted.
--   done_tools      VARCHAR[]  Tools of calls that succeeded between them, sorted.
--   failures        BIGINT     Calls that failed between them.
--   calls_before    INTEGER    Calls of the attempt before the later plan.
-- Order:
--   none
WITH consecutive AS (
  SELECT
    attempt_id,
    plan_index,
    plan AS plan_after,
    calls_before,
    lag(plan) OVER in_order AS plan_before,
    lag(calls_before) OVER in_order AS calls_before_earlier
  FROM plan_numbers
  WINDOW in_order AS (PARTITION BY attempt_id ORDER BY plan_index)
)

SELECT
  consecutive.attempt_id,
  consecutive.plan_index,
  consecutive.plan_before,
  consecutive.plan_after,
  coalesce(
    list(DISTINCT calls.sub_goal ORDER BY calls.sub_goal)
    FILTER (WHERE NOT calls.failed AND calls.sub_goal IS NOT NULL),
    []
  ) AS done_sub_goals,
  coalesce(
    list(DISTINCT calls.tool_name ORDER BY calls.tool_name)
    FILTER (WHERE NOT calls.failed AND calls.tool_name IS NOT NULL),
    []
  ) AS done_tools,
  count(*) FILTER (WHERE calls.failed) AS failures,
  any_value(consecutive.calls_before) AS calls_before
FROM consecutive
LEFT JOIN calls
  ON
    consecutive.attempt_id = calls.attempt_id
    AND consecutive.calls_before_earlier <= calls.call_index
    AND consecutive.calls_before > calls.call_index
WHERE consecutive.plan_before IS NOT NULL
GROUP BY
  consecutive.attempt_id,
  consecutive.plan_index,
  consecutive.plan_before,
  consecutive.plan_after;
