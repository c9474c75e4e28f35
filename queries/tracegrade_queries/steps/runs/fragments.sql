-- Number of traces in the bucket that are parts of runs in other traces.
--
-- They contain only tools, or only model calls that name or summarize a conversation.
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
