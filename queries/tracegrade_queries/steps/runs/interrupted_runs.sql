-- Runs whose root never arrived, nor did what stands above their spans: the process died, or is
-- still at work.
--
-- Reads:
--   bucket_spans
--   known_parents
--   model_calls
--   runs
--   runs_of_operations
-- Needs:
--   runs WHERE root IS NULL
-- Columns:
--   run              BIGINT  One row each; runs without a model call are left out.
--   last_model_call  BIGINT
-- Order:
--   none
WITH rootless AS (
  SELECT DISTINCT runs.run
  FROM runs
  INNER JOIN runs_of_operations USING (run)
  INNER JOIN known_parents USING (key)
  INNER JOIN bucket_spans AS tops ON known_parents.top = tops.key
  WHERE runs.root IS NULL AND tops.parent_span_id IS NOT NULL
)

SELECT
  model_calls.run,
  arg_max(model_calls.model_call, (model_calls.start_ns, model_calls.model_call))
    AS last_model_call
FROM model_calls
SEMI JOIN rootless USING (run)
GROUP BY model_calls.run;
