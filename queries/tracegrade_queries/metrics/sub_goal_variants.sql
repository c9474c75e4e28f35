-- The variant of its task's graph that serves all graph scores of each attempt.
--
-- Reads:
--   sub_goal_choices
--   sub_goal_examples
-- Columns:
--   attempt_id  VARCHAR  One row each, for attempts whose task has a usable graph.
--   task_id     VARCHAR  The task.
--   variant     INTEGER  Which of its variants, from 0.
--   settled     BOOLEAN  The choice depends on nothing unknown, or there was none.
-- Order:
--   none
SELECT
  sub_goal_examples.attempt_id,
  sub_goal_choices.task_id,
  sub_goal_choices.variant,
  sub_goal_choices.settled
FROM sub_goal_examples
INNER JOIN sub_goal_choices USING (example);
