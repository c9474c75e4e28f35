-- How many runs the index has of each date.
--
-- Reads:
--   run_positions
-- Columns:
--   date  DATE    Date on which their traces were first received, UTC. One row each.
--   runs  BIGINT  Those of sub-agents included.
-- Order:
--   date DESC
SELECT
  date,
  count(*) AS runs
FROM run_positions
GROUP BY date
ORDER BY date DESC;
