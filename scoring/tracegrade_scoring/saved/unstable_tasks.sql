-- Tasks that the same release sometimes solves and sometimes does not.
--
-- Runs that a later run of their trial replaced do not count.
--
-- Reads:
--   superseded_runs
--   trajectory_scores
-- Columns:
--   task_id        VARCHAR  One row for each of the first four.
--   release        VARCHAR  NULL if not sent.
--   agent_name     VARCHAR  NULL if none is named.
--   run_mode       VARCHAR  NULL if not said.
--   attempts       BIGINT   Whose success is known; at least 2.
--   successes      BIGINT   At least 1, and fewer than attempts.
--   success_share  DOUBLE   successes / attempts, in (0, 1).
--   succeeded      VARCHAR  A trajectory that did, the first by id.
--   failed         VARCHAR  One that did not, the first by id.
-- Order:
--   success_share by distance from 0.5, task_id, release, agent_name, run_mode
WITH counted AS (
  SELECT trajectory_scores.*
  FROM trajectory_scores
  ANTI JOIN superseded_runs ON trajectory_scores.trajectory_id = superseded_runs.trajectory_id
)

SELECT
  task_id,
  release,
  agent_name,
  run_mode,
  count(*) AS attempts,
  count(*) FILTER (WHERE success.value = 1) AS successes,
  successes / attempts AS success_share,
  min(trajectory_id) FILTER (WHERE success.value = 1) AS succeeded,
  min(trajectory_id) FILTER (WHERE success.value < 1) AS failed
FROM counted
WHERE success.status = 'scored' AND task_id IS NOT NULL
GROUP BY task_id, release, agent_name, run_mode
HAVING successes > 0 AND successes < attempts
ORDER BY abs(success_share - 0.5), task_id, release, agent_name, run_mode;
