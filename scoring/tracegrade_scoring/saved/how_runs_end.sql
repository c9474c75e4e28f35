-- Endings of the trajectories of each release: at success, late, early, in a loop, crashed, …
--
-- Runs that were killed on purpose or replaced by a later run of their trial do not count.
--
-- Reads:
--   killed_runs
--   superseded_runs
--   trajectory_scores
-- Columns:
--   release       VARCHAR  NULL if not sent. One row for each of the first four.
--   agent_name    VARCHAR  NULL if none is named.
--   run_mode      VARCHAR  NULL if unknown.
--   ending        VARCHAR  The label of the metric termination.
--   trajectories  BIGINT   At least 1.
--   share         DOUBLE   trajectories / all trajectories of the first three columns, in (0, 1].
--   mean_steps    DOUBLE   NULL if no steps are scored.
--   example       VARCHAR  One of them, the first by id.
-- Order:
--   release, agent_name, run_mode, trajectories DESC, ending
WITH counted AS (
  SELECT trajectory_scores.*
  FROM trajectory_scores
  ANTI JOIN superseded_runs ON trajectory_scores.trajectory_id = superseded_runs.trajectory_id
  ANTI JOIN killed_runs ON trajectory_scores.trajectory_id = killed_runs.trajectory_id
)

SELECT
  release,
  agent_name,
  run_mode,
  termination.label AS ending,
  count(*) AS trajectories,
  count(*) / sum(count(*)) OVER (PARTITION BY release, agent_name, run_mode) AS share,
  avg(actual_steps.value) AS mean_steps,
  min(trajectory_id) AS example
FROM counted
WHERE termination.label IS NOT NULL
GROUP BY release, agent_name, run_mode, termination.label
ORDER BY release ASC, agent_name ASC, run_mode ASC, trajectories DESC, ending ASC;
