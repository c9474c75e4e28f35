-- How many runs there are, how many of them are under way or wait to be scored, and the newest.
--
-- Reads:
--   run_index
-- Parameters:
--   $now  TIMESTAMP  UTC.
-- Columns:
--   runs     BIGINT   All but those of sub-agents. One row.
--   running  BIGINT   No end has come, and a span came lately.
--   silent   BIGINT   No end has come, and no span for a while.
--   waiting  BIGINT   The end has come, scores have not.
--   newest   VARCHAR  Id of the newest run; NULL without any.
-- Order:
--   one row
SELECT
  count(*) AS runs,
  count(*) FILTER (WHERE running_until > $now::TIMESTAMP) AS running,
  count(*) FILTER (
    WHERE running_until <= $now::TIMESTAMP AND silent_until > $now::TIMESTAMP
  ) AS silent,
  count(*) FILTER (WHERE running_until IS NULL AND awaits_score) AS waiting,
  arg_min(trajectory_id, seq) AS newest
FROM run_index
WHERE parent_trajectory_id IS NULL
ORDER BY runs;
