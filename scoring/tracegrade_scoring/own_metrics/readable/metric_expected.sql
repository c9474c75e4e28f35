-- The calls that tasks expect, as metrics of users' own read them: `expected`.
--
-- Reads:
--   task_expected
-- As:
--   view
-- Columns:
--   task_id    VARCHAR    The task.
--   position   INTEGER    Place in the task file, from 0; one row for each task_id and position.
--   decision   VARCHAR    Name of the decision point; NULL without one.
--   tool_name  VARCHAR    NULL where any tool of an effect is expected, or none.
--   effect     VARCHAR    Effect that the tool must have; NULL if the task requires none.
--   accept     VARCHAR[]  Tools that are right as well.
--   arguments  VARCHAR    JSON of what is expected of the arguments; NULL if the task states none.
--   turn       INTEGER    Of the conversation, from 0; NULL if the task gives none.
-- Order:
--   task_id, position
SELECT
  task_id,
  position,
  decision,
  tool_name,
  effect,
  accept,
  arguments,
  turn
FROM task_expected
ORDER BY task_id, position;
