-- The run of each operation, also of a called agent's operations below its caller's span.
--
-- Reads:
--   moved_operations
-- Takes:
--   placed_without_copies
-- Needs:
--   moved_operations
-- Order:
--   none
UPDATE placed_below_callers SET run = moved_operations.run
FROM moved_operations
WHERE placed_below_callers.key = moved_operations.key;
