-- Between which ends the values lie that a page asks for.
--
-- Reads:
--   matching_runs
-- Columns:
--   low       DOUBLE  Least; NULL without any value.
--   high      DOUBLE  Largest; likewise.
--   measured  BIGINT  Runs with a value.
-- Order:
--   one row
SELECT
  min(measured) AS low,
  max(measured) AS high,
  count(measured) AS measured
FROM matching_runs
ORDER BY low;
