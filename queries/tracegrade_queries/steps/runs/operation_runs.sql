-- The run of each operation, with calls whose results a resumed agent got from outside its span.
--
-- The columns are those of placed_operations.
--
-- Reads:
--   asking_calls
-- Takes:
--   placed_below_callers
-- Needs:
--   asking_calls
-- Order:
--   none
INSERT INTO operation_runs BY NAME
FROM asking_calls;
