-- Tokens and cost of each run of the index, its sub-agents included.
--
-- Reads:
--   run_index
-- Columns:
--   seq            INTEGER  One row for each root run.
--   input_tokens   BIGINT   NULL if none were recorded.
--   output_tokens  BIGINT   NULL if none were recorded.
--   cost_usd       DOUBLE   NULL if the cost of a model call is not known, or without calls.
--   unpriced       BOOLEAN  A model call's cost is not known.
-- Order:
--   seq
SELECT
  seq,
  input_tokens,
  output_tokens,
  cost_usd,
  unpriced
FROM run_index
WHERE parent_trajectory_id IS NULL
ORDER BY seq;
