-- The final answers of attempts whose task has a criterion that asks for a pattern in it.
--
-- Reads:
--   criterion_conditions
--   attempt_tasks
--   trajectories
-- Needs:
--   criterion_conditions WHERE kind = 'answer' AND pattern IS NOT NULL
-- Columns:
--   attempt_id    INTEGER  One row for each attempt_id and pattern.
--   pattern       VARCHAR  RE2.
--   final_answer  VARCHAR  Never NULL.
-- Order:
--   none
WITH patterns AS (
  SELECT DISTINCT
    task_id,
    pattern
  FROM criterion_conditions
  WHERE
    kind = 'answer'
    AND pattern IS NOT NULL
)

SELECT
  attempt_tasks.attempt_id,
  patterns.pattern,
  trajectories.final_answer
FROM attempt_tasks
INNER JOIN patterns USING (task_id)
INNER JOIN trajectories ON attempt_tasks.attempt_id = trajectories.trajectory_id
WHERE trajectories.final_answer IS NOT NULL;
