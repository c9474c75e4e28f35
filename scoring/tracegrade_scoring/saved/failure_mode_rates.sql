-- Rates of each failure mode in each release of each agent, by run mode.
--
-- Reads:
--   failures
--   trajectory_scores
-- Columns:
--   release        VARCHAR  NULL if not sent. One row for each of the first four.
--   agent_name     VARCHAR  NULL if none is named.
--   run_mode       VARCHAR  NULL if unknown.
--   mode           VARCHAR  unclassified for a failed trajectory that shows none.
--   trajectories   BIGINT   Trajectories that show it; at least 1.
--   share          DOUBLE   trajectories / all attempts of the first three columns, in (0, 1].
--   failed         BIGINT   Trajectories among them that did not succeed.
--   example        VARCHAR  One of them, the first by id.
-- Order:
--   release, agent_name, run_mode, trajectories DESC, mode
WITH attempts AS (
  SELECT
    trajectory_id,
    release,
    agent_name,
    run_mode,
    count(*) OVER (PARTITION BY release, agent_name, run_mode) AS attempts
  FROM trajectory_scores
  WHERE coalesce(success.reason, '') NOT IN ('child_trajectory', 'killed_run', 'several_runs')
)

SELECT
  attempts.release,
  attempts.agent_name,
  attempts.run_mode,
  failures.mode,
  count(DISTINCT failures.trajectory_id) AS trajectories,
  count(DISTINCT failures.trajectory_id) / any_value(attempts.attempts) AS share,
  count(DISTINCT failures.trajectory_id) FILTER (WHERE NOT failures.success) AS failed,
  min(failures.trajectory_id) AS example
FROM failures
INNER JOIN attempts ON failures.trajectory_id = attempts.trajectory_id
GROUP BY attempts.release, attempts.agent_name, attempts.run_mode, failures.mode
ORDER BY
  attempts.release ASC,
  attempts.agent_name ASC,
  attempts.run_mode ASC,
  trajectories DESC,
  failures.mode ASC;
