-- The issues of some runs.
--
-- Reads:
--   issue_places
-- Parameters:
--   $seqs  INTEGER[]  Places of the runs in the index.
-- Columns:
--   seq          INTEGER  Place of the run.
--   issue        VARCHAR  Key of the issue.
--   rank_in_run  INTEGER  Of the reason, as in run_reasons.
-- Order:
--   seq, rank_in_run, issue
SELECT
  seq,
  issue,
  rank_in_run
FROM issue_places
WHERE seq IN (SELECT unnest($seqs))
ORDER BY seq, rank_in_run, issue;
