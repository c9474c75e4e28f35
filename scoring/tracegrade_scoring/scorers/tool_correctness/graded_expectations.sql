-- The expectations of each task that tool correctness grades, in their turns.
--
-- Expectations of effect read are left out if only the list of writes is complete. Source:
-- docs/metrics.md, section 2.1.
--
-- Reads:
--   task_expected
--   task_tools
--   tasks
-- Needs:
--   task_expected
-- Columns:
--   task_id   VARCHAR  One row for each task_id and position.
--   position  INTEGER  The expectation, from 0 in the task file.
--   turn      INTEGER  0 where the task gives others by turn, but not this; -1 if it gives none.
--   stated    BOOLEAN  It states arguments, even if it states that there are none.
-- Order:
--   none
WITH turns AS (
  SELECT
    task_id,
    count(turn) > 0 AS given
  FROM task_expected
  GROUP BY task_id
)

SELECT
  task_expected.task_id,
  task_expected.position,
  if(turns.given, coalesce(task_expected.turn, 0), -1) AS turn,
  task_expected.arguments IS NOT NULL AS stated
FROM task_expected
INNER JOIN turns USING (task_id)
INNER JOIN tasks USING (task_id)
LEFT JOIN task_tools USING (tool_name)
WHERE
  tasks.expected_complete <> 'writes'
  OR coalesce(task_expected.effect, task_tools.effect, '') <> 'read';
