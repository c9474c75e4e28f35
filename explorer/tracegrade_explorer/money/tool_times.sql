-- Tool calls of each run of the index, its sub-agents' included, and how long they took.
--
-- Reads:
--   run_index
--   run_members
--   steps
-- Columns:
--   seq          INTEGER  The root run. One row for each call.
--   tool_name    VARCHAR  NULL if not recorded.
--   duration_ms  FLOAT    NULL if the call has no end.
--   failed       BOOLEAN  Its status is error or not_executed.
-- Order:
--   none
SELECT
  run_index.seq,
  steps.tool_name,
  steps.duration_ms::FLOAT AS duration_ms,
  coalesce(steps.status IN ('error', 'not_executed'), FALSE) AS failed
FROM steps
INNER JOIN run_members ON steps.trajectory_id = run_members.trajectory_id
INNER JOIN run_index ON run_members.root_id = run_index.trajectory_id
WHERE steps.kind = 'tool_call';
