-- The way up from spans without a known operation to the nearest span that has one.
--
-- Reads:
--   operations
--   tree
-- Ends:
--   unknown_ends
-- Columns:
--   key   BIGINT  Span without a known operation.
--   next  BIGINT  Its parent.
-- Order:
--   none
WITH known AS (
  SELECT key FROM operations
  WHERE operation <> 'other'
)

SELECT
  tree.key,
  tree.next
FROM tree
ANTI JOIN known USING (key);
