-- The record that counts of each copied model call, including replays without ids.
--
-- The columns are those of found_copy_ends: key, last.
--
-- Reads:
--   replayed_calls
-- Takes:
--   found_copy_ends
-- Needs:
--   replayed_calls
-- Order:
--   none
INSERT INTO model_copy_ends BY NAME
FROM replayed_calls;
