-- The task of each attempt: the one its spans name, else the only one whose `match` fits.
--
-- Source: docs/metrics.md, section 8.1: an attempt that two tasks match is ambiguous, not guessed.
--
-- Reads:
--   task_candidates
--   trajectories
--   attempt_members
-- Columns:
--   attempt_id     INTEGER  One row each.
--   task_id        VARCHAR  NULL if none fits, or several do.
--   task_source    VARCHAR  span | match; NULL without a task.
--   ambiguous      BOOLEAN  Several tasks match.
-- Order:
--   attempt_id
WITH matches AS (
  SELECT
    attempt_id,
    count(*) AS tasks,
    min(task_id) AS task_id
  FROM task_candidates
  GROUP BY attempt_id
)

SELECT
  attempt_members.attempt_id,
  CASE
    WHEN trajectories.task_id IS NOT NULL THEN trajectories.task_id
    WHEN matches.tasks = 1 THEN matches.task_id
  END AS task_id,
  CASE
    WHEN trajectories.task_id IS NOT NULL THEN 'span'
    WHEN matches.tasks = 1 THEN 'match'
  END AS task_source,
  trajectories.task_id IS NULL AND coalesce(matches.tasks > 1, FALSE) AS ambiguous
FROM attempt_members
INNER JOIN trajectories USING (trajectory_id)
LEFT JOIN matches USING (attempt_id)
WHERE attempt_members.depth = 0
ORDER BY attempt_members.attempt_id;
