-- The attempts at a task, by release, the newest of each.
--
-- Runs that were killed on purpose or replaced by a later run of the same trial are not attempts.
--
-- Reads:
--   run_index
-- Parameters:
--   $task_id  VARCHAR  The task.
--   $rows     BIGINT   Attempts of one release at most.
-- Columns:
--   agent_name     VARCHAR  NULL if none is named.
--   release        VARCHAR  NULL if not sent.
--   trajectory_id  VARCHAR  One row each.
--   outcome        VARCHAR  succeeded | failed; NULL if not known.
--   tsa            DOUBLE   NULL if not measured.
--   step_count     INTEGER  Steps of every kind.
--   trial          INTEGER  NULL if not declared.
--   of             BIGINT   Attempts of the release, those left out included.
--   succeeded      BIGINT   Successful attempts.
--   failed         BIGINT   Failed attempts.
-- Order:
--   agent_name, release, trajectory_id
SELECT
  agent_name::VARCHAR AS agent_name,
  release::VARCHAR AS release,
  trajectory_id,
  outcome::VARCHAR AS outcome,
  tsa,
  step_count,
  trial,
  count(*) OVER release_runs AS of,
  count(if(outcome = 'succeeded', 1, NULL)) OVER release_runs AS succeeded,
  count(if(outcome = 'failed', 1, NULL)) OVER release_runs AS failed
FROM run_index
WHERE task_id = $task_id AND parent_trajectory_id IS NULL AND NOT killed AND NOT superseded
WINDOW release_runs AS (PARTITION BY agent_name, release)
QUALIFY row_number() OVER (PARTITION BY agent_name, release ORDER BY seq) <= $rows
ORDER BY agent_name, release, trajectory_id;
