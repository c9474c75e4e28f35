-- The conversations that the runs of a filter belong to, those of most runs first.
--
-- They are many, so that those that are looked for are chosen here.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $names  BIGINT   At most so many.
--   $part   VARCHAR  What each contains, whatever its case.
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
