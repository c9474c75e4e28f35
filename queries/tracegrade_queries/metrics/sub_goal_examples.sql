-- What each attempt made of its task's sub-goals, by an attempt that made the same of them.
--
-- Many attempts, few distinct outcomes: what follows from an outcome is found once, for its
-- example. When sub-goals were first completed counts by its order alone.
--
-- Reads:
--   sub_goal_states
-- Columns:
--   attempt_id  VARCHAR  One row each, for attempts whose task has a usable graph.
--   task_id     VARCHAR  The task.
--   example     VARCHAR  The first of the attempts of the same task and outcome.
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
    list(
      (
        attempted, holds, completed, ever_completed, regressed, pre_satisfied, judged, by_step,
        if(first_completed IS NULL, NULL, rank)
      )
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
