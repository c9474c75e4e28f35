-- Runs and tasks of each cohort of the compared releases, and the number of tasks that both ran.
--
-- Reads:
--   compared_runs
-- Columns:
--   agent_name               VARCHAR  One row for each agent_name and run_mode; NULL if not named.
--   run_mode                 VARCHAR  NULL if the trace does not say.
--   base_runs                BIGINT   Runs of the base, without sub-agents' and superseded runs.
--   candidate_runs           BIGINT   The same for the candidate.
--   base_runs_of_no_task     BIGINT   Of these, without a known task: in no pair.
--   candidate_runs_of_no_task  BIGINT   The same for the candidate.
--   base_superseded          BIGINT   Runs that a later run of the same trial replaced.
--   candidate_superseded     BIGINT   The same for the candidate.
--   tasks                    BIGINT   Tasks that both ran.
--   base_only_tasks          BIGINT   Tasks that only the base ran.
--   candidate_only_tasks     BIGINT   Tasks that only the candidate ran.
-- Order:
--   agent_name, run_mode
WITH tasks AS (
  SELECT
    agent_name,
    run_mode,
    task_id,
    count_if(side = 'base' AND is_root AND NOT superseded) AS base_runs,
    count_if(side = 'candidate' AND is_root AND NOT superseded) AS candidate_runs,
    count_if(side = 'base' AND is_root AND superseded) AS base_superseded,
    count_if(side = 'candidate' AND is_root AND superseded) AS candidate_superseded
  FROM compared_runs
  GROUP BY agent_name, run_mode, task_id
)

SELECT
  agent_name,
  run_mode,
  sum(base_runs)::BIGINT AS base_runs,
  sum(candidate_runs)::BIGINT AS candidate_runs,
  coalesce(sum(base_runs) FILTER (WHERE task_id IS NULL), 0)::BIGINT AS base_runs_of_no_task,
  coalesce(sum(candidate_runs) FILTER (WHERE task_id IS NULL), 0)::BIGINT
    AS candidate_runs_of_no_task,
  sum(base_superseded)::BIGINT AS base_superseded,
  sum(candidate_superseded)::BIGINT AS candidate_superseded,
  count(task_id) FILTER (WHERE base_runs > 0 AND candidate_runs > 0) AS tasks,
  count(task_id) FILTER (WHERE base_runs > 0 AND candidate_runs = 0) AS base_only_tasks,
  count(task_id) FILTER (WHERE base_runs = 0 AND candidate_runs > 0) AS candidate_only_tasks
FROM tasks
GROUP BY agent_name, run_mode
HAVING sum(base_runs) + sum(candidate_runs) > 0
ORDER BY agent_name, run_mode;
