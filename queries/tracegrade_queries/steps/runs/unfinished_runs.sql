-- Runs without an end: their process died, or is still working.
--
-- A run with a root is over if the root has an end, or an answer if its source records no ends.
-- Spans above the root do not belong to the run. A run without a root is over if no span of its
-- process is missing above its spans.
--
-- Reads:
--   bucket_spans
--   known_parents
--   model_calls
--   operations
--   run_ids
--   operation_runs
-- Needs:
--   run_ids WHERE root IS NULL OR root IN (SELECT key FROM operations WHERE NOT ended)
-- Columns:
--   run              BIGINT  One row each.
--   last_model_call  BIGINT  NULL if it has none.
-- Order:
--   none
WITH unfinished AS (
  SELECT run_ids.run
  FROM run_ids
  INNER JOIN operations ON run_ids.root = operations.key
  WHERE NOT operations.ended AND coalesce(operations.answer, '') = ''
  UNION
  SELECT run_ids.run
  FROM run_ids
  INNER JOIN operation_runs USING (run)
  INNER JOIN known_parents USING (key)
  INNER JOIN bucket_spans AS tops ON known_parents.top = tops.key
  WHERE run_ids.root IS NULL AND NOT tops.is_local_root
)

SELECT
  unfinished.run,
  arg_max(model_calls.model_call, (model_calls.start_ns, model_calls.model_call))
    AS last_model_call
FROM unfinished
LEFT JOIN model_calls USING (run)
GROUP BY unfinished.run;
