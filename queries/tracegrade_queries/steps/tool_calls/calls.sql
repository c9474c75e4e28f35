-- Tool calls, including those that a model's provider or the program ran.
--
-- The columns are those of client_calls.
--
-- Reads:
--   provider_calls
--   retrieval_calls
-- Takes:
--   client_calls
-- Needs:
--   provider_calls or retrieval_calls
-- Order:
--   none
INSERT INTO calls BY NAME
FROM provider_calls
UNION ALL BY NAME
FROM retrieval_calls;
