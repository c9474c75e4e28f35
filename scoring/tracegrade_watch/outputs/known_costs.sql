-- The known cost of the runs of each release.
--
-- The runs of a sub-agent count for the sub-agent.
--
-- Reads:
--   trajectories
-- Columns:
--   agent_name  VARCHAR  NULL if none is named. One row for each agent_name, run_mode and release.
--   run_mode    VARCHAR  NULL if not declared.
--   release     VARCHAR  NULL if not sent.
--   cost_usd    DOUBLE   Sum over runs whose cost is known; not NULL.
-- Order:
--   agent_name, run_mode, release
SELECT
  agent_name,
  run_mode,
  release,
  sum(cost_usd ORDER BY trajectory_id) AS cost_usd
FROM trajectories
WHERE cost_usd IS NOT NULL
GROUP BY agent_name, run_mode, release
ORDER BY agent_name, run_mode, release;
