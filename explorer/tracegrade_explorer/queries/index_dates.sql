-- Number of the index's runs on each date.
--
-- Reads:
--   run_positions
-- Columns:
--   date  DATE    Date on which their traces were first received, UTC. One row each.
--   runs  BIGINT  Runs, including those of sub-agents.
-- Order:
--   date DESC
SELECT
  date,
  count(*) AS runs
FROM run_positions
GROUP BY date
ORDER BY date DESC;
