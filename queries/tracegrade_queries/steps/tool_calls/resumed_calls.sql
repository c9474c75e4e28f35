-- Calls that a run has from one before it: it began with their results, or by executing them.
--
-- Reads:
--   calls
--   model_calls
--   requests
-- Needs:
--   requests WHERE is_carried or calls WHERE model_call IS NULL AND call_id IS NOT NULL
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
  calls.run,
  list_sort(list(DISTINCT calls.call_id)) AS call_ids
FROM calls
LEFT JOIN firsts USING (run)
LEFT JOIN requests ON calls.call = requests.request
WHERE
  calls.call_id IS NOT NULL
  AND (
    requests.is_carried
    OR (calls.model_call IS NULL AND calls.execution_ns < firsts.start_ns)
  )
GROUP BY calls.run;
