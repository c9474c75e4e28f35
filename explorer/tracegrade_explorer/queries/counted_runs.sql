-- Number of a filter's runs.
--
-- Reads:
--   matching_runs
-- Columns:
--   runs  BIGINT  Runs of the filter.
-- Order:
--   one row
SELECT count(*) AS runs
FROM matching_runs
ORDER BY runs;
