-- How many tool calls models request at once, by model.
--
-- A call failed by its status, which results that say so set, too; what the error_pattern of
-- a task file finds besides is counted by the queries about failed calls that scoring brings.
--
-- Reads:
--   steps
-- Columns:
--   model         VARCHAR  NULL if not recorded. One row for each model.
--   model_calls   BIGINT   That requested at least one tool call.
--   tool_calls    BIGINT   Requested by them.
--   parallel      BIGINT   Model calls that requested two or more.
--   most          BIGINT   Most tool calls of one model call.
--   failed_share  DOUBLE   Failed calls / calls of those that requested two or more; or NULL.
-- Order:
--   model_calls DESC, model
WITH requests AS (
  SELECT
    model,
    trace_id,
    request_span_id,
    count(*) AS calls,
    count(*) FILTER (WHERE status IN ('error', 'not_executed')) AS failed
  FROM steps
  WHERE kind = 'tool_call' AND request_span_id IS NOT NULL
  GROUP BY model, trace_id, request_span_id
)

SELECT
  model,
  count(*) AS model_calls,
  sum(calls)::BIGINT AS tool_calls,
  count(*) FILTER (WHERE calls > 1) AS parallel,
  max(calls) AS most,
  sum(failed) FILTER (WHERE calls > 1) / sum(calls) FILTER (WHERE calls > 1) AS failed_share
FROM requests
GROUP BY model
ORDER BY model_calls DESC, model ASC;
