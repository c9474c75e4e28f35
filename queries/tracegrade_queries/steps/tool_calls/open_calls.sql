-- Calls that a run left open: a run that resumes it may hold their results.
--
-- The run ended waiting for a person or another system; or it has no agent's span, and the
-- requests of its last model call have no result.
--
-- Reads:
--   client_calls
--   model_calls
--   run_ids
--   unfinished_runs
-- Needs:
--   client_calls WHERE status IN ('interrupted', 'unknown') AND call_id IS NOT NULL
-- Columns:
--   run       BIGINT     One row each.
--   call_ids  VARCHAR[]  Sorted.
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

SELECT
  client_calls.run,
  list_sort(list(DISTINCT client_calls.call_id)) AS call_ids
FROM client_calls
LEFT JOIN last_calls USING (model_call)
WHERE
  client_calls.call_id IS NOT NULL
  AND (
    client_calls.status = 'interrupted'
    OR (
      client_calls.status = 'unknown'
      AND client_calls.execution IS NULL
      AND last_calls.run IS NOT NULL
    )
  )
GROUP BY client_calls.run;
