-- Calls of each tool by each run of the index, without those of its sub-agents.
--
-- Reads:
--   run_index
--   steps
-- Columns:
--   seq        INTEGER  Place of the run in the index; one row for each tool that it calls.
--   tool_name  VARCHAR  NULL if not recorded.
--   calls      BIGINT   At least 1.
-- Order:
--   none
SELECT
  run_index.seq,
  steps.tool_name,
  count(*) AS calls
FROM steps
INNER JOIN run_index ON steps.trajectory_id = run_index.trajectory_id
WHERE steps.kind = 'tool_call'
GROUP BY run_index.seq, steps.tool_name;
