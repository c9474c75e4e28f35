-- The final answers of attempts whose task has a criterion that asks for a pattern in it.
--
-- Reads:
--   criterion_conditions
--   task_matches
--   trajectories
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
  task_matches.attempt_id,
  patterns.pattern,
  trajectories.final_answer
FROM task_matches
INNER JOIN patterns USING (task_id)
INNER JOIN trajectories ON task_matches.attempt_id = trajectories.trajectory_id
WHERE trajectories.final_answer IS NOT NULL;
