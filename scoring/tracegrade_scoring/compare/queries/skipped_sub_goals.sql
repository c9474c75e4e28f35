-- Critical sub-goals that the candidate skips in a larger share of its runs than the base.
--
-- Reads:
--   compared_runs
--   sub_goals
-- Columns:
--   agent_name         VARCHAR    NULL if the trace names none.
--   run_mode           VARCHAR    NULL if the trace does not say.
--   task_id            VARCHAR    The task whose plan graph holds the sub-goal.
--   sub_goal           VARCHAR    One row for each of the four; critical in some run.
--   base_skipped       BIGINT     Runs without any action that served it.
--   base_runs          BIGINT     Runs for which that is known; at least 1.
--   candidate_skipped  BIGINT     The same for the candidate; at least 1.
--   candidate_runs     BIGINT     The same for the candidate; at least 1.
--   trajectory_ids     VARCHAR[]  The candidate's first three runs by id that skip it.
-- Order:
--   agent_name, run_mode, task_id, sub_goal
WITH outcomes AS (
  SELECT
    compared_runs.agent_name,
    compared_runs.run_mode,
    sub_goals.task_id,
    sub_goals.sub_goal,
    bool_or(sub_goals.critical) AS critical,
    count(*) FILTER (WHERE compared_runs.side = 'base' AND NOT sub_goals.attempted)
      AS base_skipped,
    count(*) FILTER (WHERE compared_runs.side = 'base') AS base_runs,
    count(*) FILTER (WHERE compared_runs.side = 'candidate' AND NOT sub_goals.attempted)
      AS candidate_skipped,
    count(*) FILTER (WHERE compared_runs.side = 'candidate') AS candidate_runs,
    list(
      if(
        compared_runs.side = 'candidate' AND NOT sub_goals.attempted,
        sub_goals.trajectory_id,
        NULL
      ) ORDER BY sub_goals.trajectory_id
    ) AS skipping
  FROM sub_goals
  INNER JOIN compared_runs USING (trajectory_id)
  WHERE compared_runs.counted AND sub_goals.attempted IS NOT NULL
  GROUP BY
    compared_runs.agent_name, compared_runs.run_mode, sub_goals.task_id, sub_goals.sub_goal
)

SELECT
  agent_name,
  run_mode,
  task_id,
  sub_goal,
  base_skipped,
  base_runs,
  candidate_skipped,
  candidate_runs,
  list_filter(skipping, LAMBDA skipped: skipped IS NOT NULL)[:3] AS trajectory_ids
FROM outcomes
WHERE
  critical
  -- Shares without dividing: a sub-goal that one side lacks is not a change.
  AND candidate_skipped * base_runs > base_skipped * candidate_runs
ORDER BY agent_name, run_mode, task_id, sub_goal;
