-- Tool calls, including those that a model's provider ran.
--
-- The columns are those of client_calls.
--
-- Reads:
--   provider_calls
-- Takes:
--   client_calls
-- Needs:
--   provider_calls
-- Order:
--   none
INSERT INTO calls BY NAME
FROM provider_calls;
