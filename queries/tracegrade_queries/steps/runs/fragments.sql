-- How many traces of the bucket are parts of runs that are elsewhere: they hold tools alone, or
-- model calls alone that name or sum up a conversation.
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
