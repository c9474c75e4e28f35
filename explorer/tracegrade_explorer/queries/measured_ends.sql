-- The smallest and the largest of a page's values.
--
-- Reads:
--   matching_runs
-- Columns:
--   low       DOUBLE  Least; NULL without any value.
--   high      DOUBLE  Largest; NULL if there is none.
--   measured  BIGINT  Runs with a value.
-- Order:
--   one row
SELECT
  min(measured) AS low,
  max(measured) AS high,
  count(measured) AS measured
FROM matching_runs
ORDER BY low;
