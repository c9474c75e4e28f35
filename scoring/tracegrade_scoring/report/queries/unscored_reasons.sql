-- Why trajectories have no value of a metric, by release and agent.
--
-- Reads:
--   scores
-- Columns:
--   release       VARCHAR  One row for each of all but trajectories.
--   agent_name    VARCHAR  NULL if the trace names none.
--   run_mode      VARCHAR  As the trace says: production | live | mocked; else NULL.
--   metric        VARCHAR  Its name in trajectory_scores.
--   status        VARCHAR  not_applicable | error.
--   reason        VARCHAR  NULL if none was recorded.
--   trajectories  BIGINT   At least 1.
-- Order:
--   agent_name, run_mode, release, metric, trajectories (most first), status, reason
SELECT
  release,
  agent_name,
  run_mode,
  metric,
  status,
  reason,
  count(*) AS trajectories
FROM scores
WHERE status != 'scored'
GROUP BY release, agent_name, run_mode, metric, status, reason
ORDER BY
  agent_name ASC,
  run_mode ASC,
  release ASC,
  metric ASC,
  trajectories DESC,
  status ASC,
  reason ASC;
