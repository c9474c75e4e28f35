-- Where the runs of each issue are in the index; runs that the index leaves out have no row.
--
-- Reads:
--   issue_attempts
--   run_index
-- Columns:
--   issue        VARCHAR  Key of the issue; one row for each issue and seq.
--   seq          INTEGER  Place of the run in the index.
--   rank_in_run  INTEGER  Of the reason, as in run_reasons.
-- Order:
--   none
SELECT
  issue_attempts.issue,
  run_index.seq,
  issue_attempts.rank_in_run
FROM issue_attempts
INNER JOIN run_index ON issue_attempts.trajectory_id = run_index.trajectory_id;
