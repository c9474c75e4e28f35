-- How many runs a filter has.
--
-- Reads:
--   matching_runs
-- Columns:
--   runs  BIGINT  Of the filter.
-- Order:
--   one row
SELECT count(*) AS runs
FROM matching_runs
ORDER BY runs;
