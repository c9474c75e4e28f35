-- The position of a run in the order of a filter.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
-- Columns:
--   seq       INTEGER  One row; none if the filter leaves it out.
--   sort_key  DOUBLE   The value it is ordered by.
-- Order:
--   seq
SELECT
  seq,
  sort_key
FROM matching_runs
WHERE trajectory_id = $trajectory_id
ORDER BY seq;
