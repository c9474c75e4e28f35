-- The dates on which traces of the listed runs were first received.
--
-- Reads:
--   run_index
-- Columns:
--   date  DATE    UTC. One row each.
--   runs  BIGINT  Runs, including those of sub-agents.
-- Order:
--   date DESC
SELECT
  date,
  count(*) AS runs
FROM run_index
GROUP BY date
ORDER BY date DESC;
