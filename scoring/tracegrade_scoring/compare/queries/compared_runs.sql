-- The scored trajectories of the two compared releases, including sub-agents' trajectories.
--
-- A comparison pairs the tasks that both releases ran. In a cohort without such a task, it
-- compares the runs without a known task. A run that a later run superseded is left out, and so is
-- a run that was killed on purpose.
--
-- Reads:
--   superseded_runs
--   trajectory_scores
--   trajectories
-- Parameters:
--   $base       VARCHAR  The release before.
--   $candidate  VARCHAR  The release after.
-- Columns:
--   trajectory_id  VARCHAR  One row each.
--   agent_name     VARCHAR  NULL if the trace names none.
--   run_mode       VARCHAR  production | live | mocked; NULL if the trace does not say.
--   task_id        VARCHAR  NULL if no task is known.
--   task_category  VARCHAR  NULL if not known.
--   side           VARCHAR  base | candidate.
--   attempt        VARCHAR  The conversation, else the run.
--   is_root        BOOLEAN  It is not a sub-agent's.
--   superseded     BOOLEAN  A later run of the same trial replaced it.
--   counted        BOOLEAN  It takes part in the comparison.
-- Order:
--   none
WITH sides AS (
  SELECT
    trajectory_id,
    agent_name,
    run_mode,
    task_id,
    task_category,
    CASE release WHEN $base THEN 'base' ELSE 'candidate' END AS side
  FROM trajectory_scores
  WHERE
    release IN ($base, $candidate)
    AND coalesce(success.reason NOT IN ('killed_run', 'several_runs'), TRUE)
),

compared AS (
  SELECT
    sides.*,
    coalesce(trajectories.conversation_id, trajectories.trajectory_id) AS attempt,
    trajectories.parent_trajectory_id IS NULL AS is_root,
    superseded_runs.trajectory_id IS NOT NULL AS superseded
  FROM sides
  INNER JOIN trajectories USING (trajectory_id)
  LEFT JOIN superseded_runs USING (trajectory_id)
),

tasks_of_both AS (
  SELECT
    agent_name,
    run_mode,
    task_id
  FROM compared
  WHERE
    task_id IS NOT NULL
    AND NOT superseded
  GROUP BY agent_name, run_mode, task_id
  HAVING count(DISTINCT side) = 2
),

cohorts_with_pairs AS (
  SELECT DISTINCT
    agent_name,
    run_mode,
    TRUE AS has_pairs
  FROM tasks_of_both
)

SELECT
  compared.*,
  NOT compared.superseded
  AND if(
    cohorts_with_pairs.has_pairs,
    tasks_of_both.task_id IS NOT NULL,
    compared.task_id IS NULL
  ) AS counted
FROM compared
LEFT JOIN tasks_of_both
  ON
    compared.task_id = tasks_of_both.task_id
    AND compared.agent_name IS NOT DISTINCT FROM tasks_of_both.agent_name
    AND compared.run_mode IS NOT DISTINCT FROM tasks_of_both.run_mode
LEFT JOIN cohorts_with_pairs
  ON
    compared.agent_name IS NOT DISTINCT FROM cohorts_with_pairs.agent_name
    AND compared.run_mode IS NOT DISTINCT FROM cohorts_with_pairs.run_mode;
