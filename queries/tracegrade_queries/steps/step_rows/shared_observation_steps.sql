-- Observations of several calls at once, of code without tool calls, and of code that failed.
--
-- The last kind is code that failed after its call succeeded. The step comes after all other steps
-- of the model call. Texts that only join the results of single calls are left out.
--
-- Reads:
--   calls
--   operations
--   shared_responses
-- Needs:
--   shared_responses
-- Columns:
--   run               BIGINT
--   anchor_ns         BIGINT   Start of the model call that saw it.
--   message_position  BIGINT   Before all that this one said.
--   part_position     BIGINT   0.
--   execution_ns      BIGINT   As anchor_ns.
--   process_order     BIGINT
--   order_span_id     VARCHAR
--   span_key          BIGINT   Key of the model call that requested it; one row each.
--   kind              VARCHAR  observation.
--   content           VARCHAR
-- Order:
--   none
WITH called AS (
  SELECT
    calls.model_call,
    any_value(calls.observed) AS observed,
    bool_and(calls.observed IS NOT NULL OR calls.kind <> 'tool_call') AS all_observed
  FROM calls
  SEMI JOIN shared_responses USING (model_call)
  GROUP BY calls.model_call
)

SELECT
  shared_responses.run,
  shared_responses.next_ns AS anchor_ns,
  -4 * position_gap()::BIGINT AS message_position,
  0::BIGINT AS part_position,
  shared_responses.next_ns AS execution_ns,
  operations.process_order,
  operations.span_id AS order_span_id,
  shared_responses.model_call AS span_key,
  'observation' AS kind,
  shared_responses.observed AS content
FROM shared_responses
INNER JOIN operations ON shared_responses.model_call = operations.key
LEFT JOIN called USING (model_call)
WHERE
  shared_responses.observed IS NOT NULL
  AND CASE
    WHEN shared_responses.requests = 1
      THEN called.observed IS DISTINCT FROM shared_responses.observed
    ELSE shared_responses.is_code OR NOT called.all_observed
  END;
