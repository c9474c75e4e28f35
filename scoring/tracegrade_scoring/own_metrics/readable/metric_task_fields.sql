-- The own keys of tasks, as metrics of users' own read them: `task_fields`.
--
-- They are under `x` of a task in the task file, and no other code reads them.
--
-- Reads:
--   task_fields
-- As:
--   view
-- Columns:
--   task_id  VARCHAR  The task.
--   field    VARCHAR  The key; one row for each task_id and field.
--   value    VARCHAR  A text unchanged, anything else as JSON; NULL if the file has null there.
-- Order:
--   task_id, field
SELECT
  task_id,
  field,
  value
FROM task_fields
ORDER BY task_id, field;
