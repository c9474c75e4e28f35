-- Why trajectories have no value of a metric, by release and agent.
--
-- Reads:
--   scores
-- Columns:
--   release       VARCHAR  One row for each release, agent_name, metric, status and reason.
--   agent_name    VARCHAR  NULL if the trace names none.
--   metric        VARCHAR  Its name in trajectory_scores.
--   status        VARCHAR  not_applicable | error.
--   reason        VARCHAR  NULL if none was recorded.
--   trajectories  BIGINT   At least 1.
-- Order:
--   agent_name, release, metric, trajectories (most first), status, reason
SELECT
  release,
  agent_name,
  metric,
  status,
  reason,
  count(*) AS trajectories
FROM scores
WHERE status != 'scored'
GROUP BY release, agent_name, metric, status, reason
ORDER BY
  agent_name ASC,
  release ASC,
  metric ASC,
  trajectories DESC,
  status ASC,
  reason ASC;
