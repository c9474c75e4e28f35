-- The way up from operations that are neither agent nor tool to the nearest agent or tool.
--
-- Reads:
--   known_parents
-- Ends:
--   anchor_ends
-- Columns:
--   key   BIGINT
--   next  BIGINT
-- Order:
--   none
SELECT
  key,
  parent AS next
FROM known_parents
WHERE operation NOT IN ('agent', 'tool') AND parent IS NOT NULL;
