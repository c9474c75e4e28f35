-- The metrics of users' own whose definitions a lake keeps.
--
-- Reads:
--   metric_definitions
-- Columns:
--   name     VARCHAR    As in the view scores.
--   version  VARCHAR    As the user gives it.
--   low      DOUBLE     The least value; NULL without a bound.
--   high     DOUBLE     The greatest value; NULL without a bound.
--   better   VARCHAR    Which way is better: less, none or more.
--   kind     VARCHAR    How values add up.
--   unit     VARCHAR    What is counted.
--   label    VARCHAR    Its name for readers.
--   meaning  VARCHAR    What it says.
--   reads    VARCHAR[]  The relations that it reads.
--   origin   VARCHAR    File or distribution that it came from.
-- Order:
--   name
SELECT
  name,
  version,
  low,
  high,
  better,
  kind,
  unit,
  label,
  meaning,
  reads,
  origin
FROM metric_definitions
ORDER BY name;
