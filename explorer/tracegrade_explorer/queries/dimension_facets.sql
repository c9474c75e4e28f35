-- The values that a filter's runs have in dimensions, those with most runs first.
--
-- A query of its own: lakes without a mapping file of dimensions have nothing to count.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $names       BIGINT   Maximum for each dimension.
--   $dimensions  VARCHAR  The dimensions, with commas between.
-- Columns:
--   facet  VARCHAR  A dimension of the mapping file.
--   name   VARCHAR  NULL: not known. One row for each facet and name.
--   runs   BIGINT   With this name; all together are the filter's.
--   of     BIGINT   Number of names of the facet, including those left out.
-- Order:
--   facet, runs DESC, name
SELECT
  facet,
  name,
  count(*) AS runs,
  count(*) OVER (PARTITION BY facet) AS of
FROM (
  SELECT
    listed.facet,
    matching_runs.dimensions[listed.facet] AS name
  FROM matching_runs
  CROSS JOIN (SELECT unnest(string_split($dimensions, ',')) AS facet) AS listed
) AS values_of_runs
GROUP BY facet, name
QUALIFY row_number() OVER (PARTITION BY facet ORDER BY count(*) DESC, name ASC) <= $names
ORDER BY facet ASC, runs DESC, name ASC;
