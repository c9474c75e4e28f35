-- The run that each operation belongs to: also what hung below the agent that called theirs.
--
-- Reads:
--   moved_operations
-- Takes:
--   placed_without_copies
-- Needs:
--   moved_operations
-- Order:
--   none
UPDATE placed_with_their_own SET run = moved_operations.run
FROM moved_operations
WHERE placed_with_their_own.key = moved_operations.key;
