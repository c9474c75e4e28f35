-- The tags of labels in this lake, the most frequent first.
--
-- Reads:
--   counted_verdicts
-- Parameters:
--   $rows  BIGINT  Tags at most.
-- Columns:
--   tag  VARCHAR  One row each.
-- Order:
--   how often, descending; tag
SELECT tag
FROM counted_verdicts
WHERE tag IS NOT NULL
GROUP BY tag
ORDER BY count(*) DESC, tag ASC
LIMIT $rows;
