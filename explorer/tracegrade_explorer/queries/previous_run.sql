-- The run that comes directly before another one in the order of a filter.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $key  DOUBLE   `sort_key` of the other one.
--   $seq  INTEGER  Its place.
-- Columns:
--   seq       INTEGER  One row at most.
--   sort_key  DOUBLE   By what it is in order.
-- Order:
--   one row
SELECT
  seq,
  sort_key
FROM matching_runs
WHERE sort_key < $key::DOUBLE OR (sort_key = $key::DOUBLE AND seq < $seq::INTEGER)
ORDER BY sort_key DESC, seq DESC
LIMIT 1;
