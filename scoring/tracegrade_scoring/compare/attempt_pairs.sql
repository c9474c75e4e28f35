-- Attempts of each task that both releases ran, and how many succeeded.
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
--   base_valid         BIGINT   Attempts of known success.
--   base_correct       BIGINT   Of these, successful.
--   base_invalid       BIGINT   Attempts of unknown success, which are not failures.
--   candidate_valid    BIGINT   As for the base, likewise below.
--   candidate_correct  BIGINT   Likewise.
--   candidate_invalid  BIGINT   Likewise.
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

categories AS (
  SELECT
    agent_name,
    run_mode,
    task_id,
    min(task_category) AS task_category
  FROM compared_runs
  GROUP BY agent_name, run_mode, task_id
)

SELECT
  base_attempts.agent_name,
  base_attempts.run_mode,
  base_attempts.task_id,
  categories.task_category,
  base_attempts.valid_attempts AS base_valid,
  base_attempts.correct AS base_correct,
  base_attempts.invalid AS base_invalid,
  candidate_attempts.valid_attempts AS candidate_valid,
  candidate_attempts.correct AS candidate_correct,
  candidate_attempts.invalid AS candidate_invalid
FROM base_attempts
INNER JOIN candidate_attempts
  ON
    base_attempts.task_id = candidate_attempts.task_id
    AND base_attempts.agent_name IS NOT DISTINCT FROM candidate_attempts.agent_name
    AND base_attempts.run_mode IS NOT DISTINCT FROM candidate_attempts.run_mode
INNER JOIN categories
  ON
    base_attempts.task_id = categories.task_id
    AND base_attempts.agent_name IS NOT DISTINCT FROM categories.agent_name
    AND base_attempts.run_mode IS NOT DISTINCT FROM categories.run_mode
ORDER BY base_attempts.agent_name, base_attempts.run_mode, base_attempts.task_id;
