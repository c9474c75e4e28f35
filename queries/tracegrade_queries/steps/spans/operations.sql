-- Spans that at least one dialect recognizes, without those that judge or play a user.
--
-- The columns are those of found_operations.
--
-- Reads:
--   simulated_users
-- Takes:
--   working_operations
-- Needs:
--   simulated_users
-- Order:
--   none
DELETE FROM operations
WHERE key IN (SELECT key FROM simulated_users);
