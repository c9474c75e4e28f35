-- The way up from operations without an agent name to the nearest with a name, in the run.
--
-- Reads:
--   operations
--   known_parents
--   run_starts
-- Ends:
--   name_ends
-- Columns:
--   key   BIGINT
--   next  BIGINT
-- Order:
--   none
SELECT
  known_parents.key,
  known_parents.parent AS next
FROM known_parents
INNER JOIN operations USING (key)
ANTI JOIN run_starts USING (key)
WHERE operations.agent_name IS NULL AND known_parents.parent IS NOT NULL;
