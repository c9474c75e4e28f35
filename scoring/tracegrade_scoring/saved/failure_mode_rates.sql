-- Rates of each failure mode in each release of each agent, by run mode.
--
-- Runs that were killed on purpose or replaced by a later run of their trial do not count.
--
-- Reads:
--   failures
--   superseded_runs
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
WITH counted AS (
  SELECT trajectory_scores.*
  FROM trajectory_scores
  ANTI JOIN superseded_runs ON trajectory_scores.trajectory_id = superseded_runs.trajectory_id
),

attempts AS (
  SELECT
    trajectory_id,
    release,
    agent_name,
    run_mode,
    count(*) OVER (PARTITION BY release, agent_name, run_mode) AS attempts
  FROM counted
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
