-- The agent's observation of each tool call; it comes right after the call.
--
-- An observation span without content means that the agent saw the tool's result, or the exception
-- that it raised.
--
-- Reads:
--   calls
--   call_steps
--   observers
-- Needs:
--   call_steps
-- Columns:
--   run               BIGINT
--   anchor_ns         BIGINT   As of the call, like the next five.
--   message_position  BIGINT
--   part_position     BIGINT
--   execution_ns      BIGINT
--   process_order     BIGINT
--   order_span_id     VARCHAR
--   observed_call     BIGINT   The call; one row each.
--   span_key          BIGINT   Observation span, else the span of the call.
--   kind              VARCHAR  observation.
--   content           VARCHAR
--   derived           BOOLEAN  There is no observation span.
-- Order:
--   none
WITH observing AS (
  SELECT
    execution,
    arg_min(key, position) AS key,
    arg_min(content, position) AS content
  FROM observers
  GROUP BY execution
)

SELECT
  call_steps.run,
  call_steps.anchor_ns,
  call_steps.message_position,
  call_steps.part_position,
  call_steps.execution_ns,
  call_steps.process_order,
  call_steps.order_span_id,
  call_steps.call AS observed_call,
  coalesce(observing.key, call_steps.span_key) AS span_key,
  'observation' AS kind,
  coalesce(
    observing.content,
    calls.observed,
    nullif(concat_ws(': ', calls.error_type, calls.error_message), '')
  ) AS content,
  observing.key IS NULL AS derived
FROM call_steps
INNER JOIN calls USING (call)
LEFT JOIN observing ON call_steps.execution = observing.execution
WHERE
  call_steps.kind = 'tool_call'
  AND (
    calls.observed IS NOT NULL
    -- The agent did not see the exception that paused a tool.
    OR (observing.key IS NOT NULL AND calls.status <> 'interrupted')
  );
