-- The position of a run in the order of a filter, and the runs directly before and after it.
--
-- Runs with equal sort keys are grouped first, so that the index is scanned once.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $seq  INTEGER  The run's place in the index.
-- Columns:
--   runs       BIGINT   Runs of the filter.
--   before     BIGINT   Runs before the run; NULL if the filter leaves it out.
--   previous   INTEGER  Place of the run directly before it; NULL if it is the first, or left out.
--   following  INTEGER  Likewise, directly after it.
-- Order:
--   one row
SELECT
  coalesce(sum(runs), 0)::BIGINT AS runs,
  sum(runs_before)::BIGINT AS before,
  arg_max(last_before, sort_key) AS previous,
  arg_min(first_after, sort_key) AS following
FROM (
  SELECT
    ties.sort_key,
    ties.runs,
    CASE
      WHEN ties.sort_key < this_run.sort_key THEN ties.runs
      WHEN ties.sort_key = this_run.sort_key THEN ties.runs_before
      WHEN this_run.sort_key IS NOT NULL THEN 0
    END AS runs_before,
    CASE
      WHEN ties.sort_key < this_run.sort_key THEN ties.last_seq
      WHEN ties.sort_key = this_run.sort_key THEN ties.seq_before
    END AS last_before,
    CASE
      WHEN ties.sort_key > this_run.sort_key THEN ties.first_seq
      WHEN ties.sort_key = this_run.sort_key THEN ties.seq_after
    END AS first_after
  FROM (
    SELECT
      sort_key,
      count(*) AS runs,
      min(seq) AS first_seq,
      max(seq) AS last_seq,
      count(*) FILTER (WHERE seq < $seq::INTEGER) AS runs_before,
      max(seq) FILTER (WHERE seq < $seq::INTEGER) AS seq_before,
      min(seq) FILTER (WHERE seq > $seq::INTEGER) AS seq_after
    FROM matching_runs
    GROUP BY sort_key
  ) AS ties
  LEFT JOIN (
    SELECT sort_key
    FROM matching_runs
    WHERE seq = $seq::INTEGER
  ) AS this_run ON TRUE
) AS sides
ORDER BY runs;
