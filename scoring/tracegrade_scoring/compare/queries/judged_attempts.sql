-- Attempts of each task on whose success judges decide, by what they say.
--
-- Reads:
--   compared_runs
--   trajectory_scores
-- Columns:
--   agent_name       VARCHAR  NULL if the trace names none.
--   run_mode         VARCHAR  NULL if the trace does not say.
--   task_id          VARCHAR  One row for each of the three, where there is such an attempt.
--   base_yes         BIGINT   Of the base, those that succeeded.
--   base_no          BIGINT   Of the base, those that failed.
--   candidate_yes    BIGINT   The same for the candidate.
--   candidate_no     BIGINT   The same for the candidate.
--   of_several_runs  BIGINT   Runs in attempts of several: a verdict is on one of them.
-- Order:
--   agent_name, run_mode, task_id
WITH runs AS (
  SELECT
    compared_runs.agent_name,
    compared_runs.run_mode,
    compared_runs.task_id,
    compared_runs.side,
    trajectory_scores.success,
    count(*) OVER attempt AS runs
  FROM compared_runs
  INNER JOIN trajectory_scores USING (trajectory_id)
  WHERE
    compared_runs.is_root
    AND NOT compared_runs.superseded
    AND compared_runs.task_id IS NOT NULL
  WINDOW
    attempt AS (
      PARTITION BY
        compared_runs.agent_name,
        compared_runs.run_mode,
        compared_runs.task_id,
        compared_runs.side,
        compared_runs.attempt
    )
)

SELECT
  agent_name,
  run_mode,
  task_id,
  count_if(side = 'base' AND success.value = 1)::BIGINT AS base_yes,
  count_if(side = 'base' AND success.value = 0)::BIGINT AS base_no,
  count_if(side = 'candidate' AND success.value = 1)::BIGINT AS candidate_yes,
  count_if(side = 'candidate' AND success.value = 0)::BIGINT AS candidate_no,
  count_if(runs > 1)::BIGINT AS of_several_runs
FROM runs
WHERE success.source = 'judge' AND success.status = 'scored'
GROUP BY agent_name, run_mode, task_id
ORDER BY agent_name, run_mode, task_id;
