-- Agents and run modes with runs that are watched.
--
-- Reads:
--   task_releases
-- Columns:
--   agent_name  VARCHAR  NULL if none is named.
--   run_mode    VARCHAR  NULL if not declared. One row for each of the two.
--   releases    BIGINT   Their releases.
-- Order:
--   agent_name, run_mode
SELECT
  agent_name,
  run_mode,
  max(position) AS releases
FROM task_releases
GROUP BY agent_name, run_mode
ORDER BY agent_name, run_mode;
