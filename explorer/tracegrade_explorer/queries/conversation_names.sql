-- The conversations of a filter's runs, those with most runs first.
--
-- They may be many, so this query selects the matching ones.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $names  BIGINT   At most so many.
--   $part   VARCHAR  A text that each contains, in any case.
-- Columns:
--   name  VARCHAR  NULL: not known. One row for each.
--   runs  BIGINT   With this name.
-- Order:
--   runs DESC, name
SELECT
  conversation_id AS name,
  count(*) AS runs
FROM matching_runs
WHERE conversation_id IS NULL OR contains(lower(conversation_id), lower($part))
GROUP BY conversation_id
QUALIFY name IS NULL OR row_number() OVER (ORDER BY name IS NULL, runs DESC, name ASC) <= $names
ORDER BY runs DESC, name ASC;
