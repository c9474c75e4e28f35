-- Way up from spans of no known operation to the nearest one that has a known operation.
--
-- Reads:
--   operations
--   tree
-- Columns:
--   key   BIGINT  Span without a known operation.
--   next  BIGINT  Its parent.
-- Order:
--   none
SELECT
  tree.key,
  tree.next
FROM tree
ANTI JOIN (SELECT key FROM operations WHERE operation <> 'other') AS known USING (key);
