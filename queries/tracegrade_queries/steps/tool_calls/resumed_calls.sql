-- Calls that a run has from an earlier one: it began with their results, or by executing them.
--
-- Reads:
--   client_calls
--   model_calls
--   requests
-- Needs:
--   requests WHERE is_carried or client_calls WHERE model_call IS NULL AND call_id IS NOT NULL
-- Columns:
--   run       BIGINT     One row each.
--   call_ids  VARCHAR[]  Sorted.
-- Order:
--   none
WITH firsts AS (
  SELECT
    run,
    min(start_ns) AS start_ns
  FROM model_calls
  GROUP BY run
)

SELECT
  client_calls.run,
  list_sort(list(DISTINCT client_calls.call_id)) AS call_ids
FROM client_calls
LEFT JOIN firsts USING (run)
LEFT JOIN requests ON client_calls.call = requests.request
WHERE
  client_calls.call_id IS NOT NULL
  AND (
    requests.is_carried
    OR (client_calls.model_call IS NULL AND client_calls.execution_ns < firsts.start_ns)
  )
GROUP BY client_calls.run;
