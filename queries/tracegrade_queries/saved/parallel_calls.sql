-- Number of tool calls that models request at once, by model.
--
-- A call's status decides whether it failed; a result that reports an error sets the status. The
-- scoring package's queries about failed calls also count results that match a task file's
-- error_pattern.
--
-- Reads:
--   steps
-- Columns:
--   model         VARCHAR  NULL if not recorded. One row for each model.
--   model_calls   BIGINT   Model calls that requested at least one tool call.
--   tool_calls    BIGINT   Tool calls that they requested.
--   parallel      BIGINT   Model calls that requested two or more.
--   most          BIGINT   Largest number of tool calls in one model call.
--   failed_share  DOUBLE   Failed calls / calls, of model calls with two or more; NULL if there
--                          are none.
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
