-- The runs of a filter in its order, from a given run on, as positions in the index.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $after_key  DOUBLE   `sort_key` of the run after which to begin.
--   $after_seq  INTEGER  Its place; NULL: from the first.
--   $rows       BIGINT   Runs at most.
-- Columns:
--   seq       INTEGER  Place in the index.
--   sort_key  DOUBLE   The value it is ordered by; NaN without a value, which comes last.
-- Order:
--   sort_key, seq
SELECT
  seq,
  sort_key
FROM matching_runs
WHERE
  $after_seq::INTEGER IS NULL
  OR sort_key > $after_key::DOUBLE
  OR (sort_key = $after_key::DOUBLE AND seq > $after_seq::INTEGER)
ORDER BY sort_key, seq
LIMIT $rows;
