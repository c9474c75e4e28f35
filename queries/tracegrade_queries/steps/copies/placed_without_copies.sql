-- The run of each operation, without operations that were recorded before.
--
-- Reads:
--   copied_operations
-- Takes:
--   placed_operations
-- Needs:
--   copied_operations
-- Order:
--   none
UPDATE placed_without_copies SET run = copied_operations.run
FROM copied_operations
WHERE placed_without_copies.key = copied_operations.key;

DELETE FROM placed_without_copies
WHERE run IS NULL;
