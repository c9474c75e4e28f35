-- Newest receipt of runs by agent and run mode.
--
-- Reads:
--   trajectories
-- Columns:
--   agent_name   VARCHAR    NULL if none is named.
--   run_mode     VARCHAR    NULL if not declared. One row for each of the two.
--   received_at  TIMESTAMP  Receipt of the newest span of a run, UTC; NULL if unknown.
-- Order:
--   agent_name, run_mode
SELECT
  agent_name,
  run_mode,
  make_timestamp_ns(max(trace_received_ns))::TIMESTAMP AS received_at
FROM trajectories
WHERE parent_trajectory_id IS NULL
GROUP BY agent_name, run_mode
ORDER BY agent_name, run_mode;
