-- What each attempt made of its task's sub-goals, by an attempt that made the same of them.
--
-- Many attempts, few distinct outcomes: what follows from an outcome is found once, for its
-- example. When sub-goals were first completed counts by its order alone.
--
-- Reads:
--   sub_goal_states
-- Columns:
--   attempt_id  INTEGER  One row each, for attempts whose task has a usable graph.
--   task_id     VARCHAR  The task.
--   example     INTEGER  The first of the attempts of the same task and outcome.
-- Order:
--   none
WITH ranked AS (
  SELECT
    *,
    dense_rank() OVER (PARTITION BY attempt_id ORDER BY first_completed ASC NULLS LAST) AS rank
  FROM sub_goal_states
),

outcomes AS (
  SELECT
    attempt_id,
    task_id,
    -- The facts as digits of a number, 0 where one is unknown; completed and regressed follow.
    list(
      coalesce(1 + attempted::INTEGER, 0)
      + 3 * coalesce(1 + holds::INTEGER, 0)
      + 9 * coalesce(1 + ever_completed::INTEGER, 0)
      + 27 * (pre_satisfied::INTEGER + 2 * judged::INTEGER + 4 * by_step::INTEGER)
      + 216 * if(first_completed IS NULL, 0, rank)
      ORDER BY place
    ) AS outcome
  FROM ranked
  GROUP BY attempt_id, task_id
)

SELECT
  attempt_id,
  task_id,
  min(attempt_id) OVER (PARTITION BY task_id, outcome) AS example
FROM outcomes;
