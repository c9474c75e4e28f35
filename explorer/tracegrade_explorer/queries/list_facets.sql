-- The names of which a run may have several: failure modes and dialects, those of most runs first.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $names  BIGINT  Of each facet at most.
-- Columns:
--   facet  VARCHAR  failure | dialect.
--   name   VARCHAR  One row for each facet and name.
--   runs   BIGINT   With this name among theirs.
--   of     BIGINT   Names that the facet has, those left out included.
-- Order:
--   facet, runs DESC, name
SELECT
  facet,
  name,
  runs,
  count(*) OVER (PARTITION BY facet) AS of
FROM (
  SELECT
    facet,
    name,
    count(*) AS runs
  FROM (
    SELECT
      'failure' AS facet,
      unnest(failures) AS name
    FROM matching_runs
    UNION ALL
    SELECT
      'dialect' AS facet,
      unnest(dialects) AS name
    FROM matching_runs
  ) AS named
  GROUP BY facet, name
) AS counted
QUALIFY row_number() OVER (PARTITION BY facet ORDER BY runs DESC, name ASC) <= $names
ORDER BY facet ASC, runs DESC, name ASC;
