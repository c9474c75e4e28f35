-- The scored trajectories of the two releases that are compared, sub-agents' included.
--
-- Reads:
--   trajectory_scores
--   trajectories
-- Parameters:
--   $base       VARCHAR  The release before.
--   $candidate  VARCHAR  The release after.
-- Columns:
--   trajectory_id  VARCHAR  One row each.
--   agent_name     VARCHAR  NULL if the trace names none.
--   run_mode       VARCHAR  production | live | mocked; NULL if the trace does not say.
--   side           VARCHAR  base | candidate.
--   task_id        VARCHAR  NULL if no task is known: such a run is in no pair.
--   task_category  VARCHAR  NULL if not known.
--   is_root        BOOLEAN  It is no sub-agent's.
-- Order:
--   none
WITH compared AS (
  SELECT
    trajectory_id,
    agent_name,
    run_mode,
    task_id,
    task_category,
    CASE release WHEN $base THEN 'base' ELSE 'candidate' END AS side
  FROM trajectory_scores
  WHERE release IN ($base, $candidate)
)

SELECT
  compared.trajectory_id,
  compared.agent_name,
  compared.run_mode,
  compared.side,
  compared.task_id,
  compared.task_category,
  trajectories.parent_trajectory_id IS NULL AS is_root
FROM compared
INNER JOIN trajectories USING (trajectory_id);
