-- The fewest steps that solved each task, for tasks without a stated number of steps.
--
-- It counts successful attempts by one agent in one run mode, in all releases that are read, if
-- there are at least three. Source: docs/metrics.md, section 3.1.
--
-- Reads:
--   trajectory_scores
-- Columns:
--   agent_name  VARCHAR  NULL if none is named. One row for each agent_name, run_mode and task_id.
--   run_mode    VARCHAR  production | live | mocked; NULL if not declared.
--   task_id     VARCHAR  The task.
--   optimum     DOUBLE   Steps.
-- Order:
--   agent_name, run_mode, task_id
SELECT
  agent_name,
  run_mode,
  task_id,
  min(actual_steps.value) AS optimum
FROM trajectory_scores
WHERE
  success.value = 1
  AND actual_steps.value IS NOT NULL
  AND task_id IS NOT NULL
GROUP BY agent_name, run_mode, task_id
HAVING count(*) >= 3
ORDER BY agent_name, run_mode, task_id;
