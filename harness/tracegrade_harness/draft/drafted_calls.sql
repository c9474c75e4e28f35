-- Model calls of the drafted runs and of their sub-agents.
--
-- Reads:
--   attempt_members
--   drafted_runs
--   model_calls
--   model_members
--   operations
--   run_ids
-- Columns:
--   trajectory_id  VARCHAR    The drafted run.
--   model_call     BIGINT     One row each.
--   model          VARCHAR    NULL if it was not recorded.
--   input_tokens   BIGINT     NULL if they were not recorded.
--   output_tokens  BIGINT     As input_tokens.
--   flags          VARCHAR[]  What its spans lack, as in steps.flags.
--   failed         BOOLEAN    A span says that it failed.
-- Order:
--   trajectory_id, start_ns, span_id
WITH flagged AS (
  SELECT
    model_members.model_call,
    list_sort(list_distinct(flatten(list(coalesce(operations.flags, []))))) AS flags,
    bool_or(operations.failed) AS failed
  FROM model_members
  INNER JOIN operations USING (key)
  GROUP BY model_members.model_call
)

SELECT
  drafted_runs.trajectory_id,
  model_calls.model_call,
  model_calls.model,
  model_calls.input_tokens,
  model_calls.output_tokens,
  flagged.flags,
  flagged.failed
FROM model_calls
INNER JOIN run_ids USING (run)
INNER JOIN attempt_members ON run_ids.trajectory_id = attempt_members.trajectory_id
INNER JOIN drafted_runs ON attempt_members.attempt_id = drafted_runs.trajectory_id
INNER JOIN flagged USING (model_call)
ORDER BY drafted_runs.trajectory_id, model_calls.start_ns, model_calls.span_id;
