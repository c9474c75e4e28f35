-- How the trajectories of each release end: at success, late, early, in a loop, crashed, …
--
-- Reads:
--   trajectory_scores
-- Columns:
--   release       VARCHAR  NULL if not sent. One row for each release, agent_name and ending.
--   agent_name    VARCHAR  NULL if none is named.
--   ending        VARCHAR  The label of the metric termination.
--   trajectories  BIGINT   At least 1.
--   share         DOUBLE   trajectories / those of the release and agent, in (0, 1].
--   mean_steps    DOUBLE   NULL if no steps are scored.
--   example       VARCHAR  One of them, the first by id.
-- Order:
--   release, agent_name, trajectories DESC, ending
SELECT
  release,
  agent_name,
  termination.label AS ending,
  count(*) AS trajectories,
  count(*) / sum(count(*)) OVER (PARTITION BY release, agent_name) AS share,
  avg(actual_steps.value) AS mean_steps,
  min(trajectory_id) AS example
FROM trajectory_scores
WHERE termination.label IS NOT NULL
GROUP BY release, agent_name, termination.label
ORDER BY release ASC, agent_name ASC, trajectories DESC, ending ASC;
