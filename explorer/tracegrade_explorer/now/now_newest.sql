-- Start of the newest run, and whether there are runs with an unknown start.
--
-- Reads:
--   run_index
-- Columns:
--   newest   TIMESTAMP  UTC; NULL if no run's start is known. One row.
--   untimed  BIGINT     Runs with an unknown start, without those of sub-agents.
-- Order:
--   one row
SELECT
  max(start_time) AS newest,
  count(*) FILTER (WHERE start_time IS NULL) AS untimed
FROM run_index
WHERE parent_trajectory_id IS NULL
ORDER BY newest;
