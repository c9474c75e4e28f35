-- Numbers of runs, of running runs and of runs that wait to be scored, and the newest run.
--
-- Reads:
--   run_index
-- Parameters:
--   $now  TIMESTAMP  UTC.
-- Columns:
--   runs     BIGINT   All runs, without those of sub-agents. One row.
--   running  BIGINT   Runs without an end that had a span recently.
--   silent   BIGINT   Runs without an end and without a recent span.
--   waiting  BIGINT   Runs with an end and without scores.
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
