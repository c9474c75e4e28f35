-- How many runs a filter has, and how many of them come before one of them.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $key  DOUBLE   `sort_key` of the one; NULL for none.
--   $seq  INTEGER  Its place.
-- Columns:
--   runs    BIGINT  Of the filter.
--   before  BIGINT  Of these, before the one; 0 for none.
-- Order:
--   one row
SELECT
  count(*) AS runs,
  count(*) FILTER (
    WHERE sort_key < $key::DOUBLE OR (sort_key = $key::DOUBLE AND seq < $seq::INTEGER)
  ) AS before
FROM matching_runs
ORDER BY runs;
