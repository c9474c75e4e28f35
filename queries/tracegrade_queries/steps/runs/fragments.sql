-- How many traces of the bucket hold tools alone: parts of runs that are elsewhere.
--
-- Reads:
--   built_trajectories
-- Columns:
--   traces  BIGINT  At least 1. One row, or none.
-- Order:
--   none
SELECT count(*) AS traces
FROM built_trajectories
WHERE is_fragment
HAVING count(*) > 0;
