-- Number of model calls in the bucket that belong to no agent's run, by reason.
--
-- `outside`: their trace has agents, but they are part of none, so they are in no trajectory.
-- `evaluator`: an evaluator made them, so they are in no trajectory either. `alone`: the call is
-- its whole trace, and is a trajectory.
--
-- Reads:
--   built_trajectories
--   dialect_operations
--   judging_spans
--   lone_copies
--   operations
--   operation_runs
-- Columns:
--   reason  VARCHAR  outside | evaluator | alone; one row each.
--   calls   BIGINT   At least 1. For calls in no trajectory, the number of spans.
-- Order:
--   none
WITH counts AS (
  SELECT
    'outside' AS reason,
    count(*) AS calls
  FROM operations
  ANTI JOIN operation_runs USING (key)
  ANTI JOIN lone_copies USING (key)
  WHERE operations.operation = 'model'
  UNION ALL
  SELECT
    'evaluator' AS reason,
    count(DISTINCT dialect_operations.key) AS calls
  FROM dialect_operations
  SEMI JOIN judging_spans USING (key)
  WHERE dialect_operations.operation = 'model'
  UNION ALL
  SELECT
    'alone' AS reason,
    count(*) AS calls
  FROM built_trajectories
  WHERE
    root_span_id = '0000000000000000'
    AND llm_call_count = 1
    AND agent_name IS NULL
    AND complete
    AND NOT imported
)

SELECT
  reason,
  calls
FROM counts
WHERE calls > 0;
