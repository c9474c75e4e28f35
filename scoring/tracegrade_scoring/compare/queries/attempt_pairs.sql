-- Attempts and successes for each task that either release, or another release of the agent, ran.
--
-- Reads:
--   attempt_successes
--   compared_runs
-- Parameters:
--   $base       VARCHAR  The release before.
--   $candidate  VARCHAR  The release after.
-- Columns:
--   agent_name         VARCHAR  NULL if the trace names none.
--   run_mode           VARCHAR  NULL if the trace does not say.
--   task_id            VARCHAR  One row for each of the three.
--   task_category      VARCHAR  NULL if not known; the first by name if its runs differ.
--   base_valid         BIGINT   Attempts of known success; 0 if it did not run the task.
--   base_correct       BIGINT   Of these, successful.
--   base_invalid       BIGINT   Attempts of unknown success, which are not failures.
--   candidate_valid    BIGINT   As for the base.
--   candidate_correct  BIGINT   As for the base.
--   candidate_invalid  BIGINT   As for the base.
-- Order:
--   agent_name, run_mode, task_id
WITH base_attempts AS (
  SELECT * FROM attempt_successes
  WHERE release = $base
),

candidate_attempts AS (
  SELECT * FROM attempt_successes
  WHERE release = $candidate
),

task_runs AS (
  SELECT
    agent_name,
    run_mode,
    task_id,
    task_category
  FROM compared_runs
  WHERE task_id IS NOT NULL
  UNION ALL
  SELECT
    agent_name,
    run_mode,
    task_id,
    task_category
  FROM attempt_successes
),

categories AS (
  SELECT
    agent_name,
    run_mode,
    task_id,
    min(task_category) AS task_category
  FROM task_runs
  GROUP BY agent_name, run_mode, task_id
)

SELECT
  categories.agent_name,
  categories.run_mode,
  categories.task_id,
  categories.task_category,
  coalesce(base_attempts.valid_attempts, 0) AS base_valid,
  coalesce(base_attempts.correct, 0) AS base_correct,
  coalesce(base_attempts.invalid, 0) AS base_invalid,
  coalesce(candidate_attempts.valid_attempts, 0) AS candidate_valid,
  coalesce(candidate_attempts.correct, 0) AS candidate_correct,
  coalesce(candidate_attempts.invalid, 0) AS candidate_invalid
FROM categories
LEFT JOIN base_attempts
  ON
    categories.task_id = base_attempts.task_id
    AND categories.agent_name IS NOT DISTINCT FROM base_attempts.agent_name
    AND categories.run_mode IS NOT DISTINCT FROM base_attempts.run_mode
LEFT JOIN candidate_attempts
  ON
    categories.task_id = candidate_attempts.task_id
    AND categories.agent_name IS NOT DISTINCT FROM candidate_attempts.agent_name
    AND categories.run_mode IS NOT DISTINCT FROM candidate_attempts.run_mode
ORDER BY categories.agent_name, categories.run_mode, categories.task_id;
