-- The run that each operation belongs to: with what an agent that goes on was given, and had no
-- agent's span when it was asked for.
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
