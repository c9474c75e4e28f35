-- Runs without an agent's span whose last model call stopped for tool calls not in the trace.
--
-- The results of these calls may be in another trace.
--
-- Reads:
--   executions
--   model_calls
--   model_members
--   requests
--   run_ids
--   stop_reasons
--   unfinished_runs
-- Needs:
--   stop_reasons WHERE for_tools
--   run_ids WHERE root IS NULL
-- Columns:
--   run  BIGINT  One row each.
-- Order:
--   none
WITH last_calls AS (
  SELECT
    model_calls.run,
    arg_max(model_calls.model_call, (model_calls.start_ns, model_calls.model_call)) AS model_call
  FROM model_calls
  INNER JOIN run_ids USING (run)
  ANTI JOIN unfinished_runs USING (run)
  WHERE run_ids.root IS NULL
  GROUP BY model_calls.run
)

SELECT DISTINCT last_calls.run
FROM last_calls
INNER JOIN model_members USING (model_call)
INNER JOIN stop_reasons USING (key)
ANTI JOIN requests ON last_calls.model_call = requests.model_call AND NOT requests.is_carried
ANTI JOIN executions ON last_calls.run = executions.run
WHERE stop_reasons.for_tools;
