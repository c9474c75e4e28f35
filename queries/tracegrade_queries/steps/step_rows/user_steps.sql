-- User messages after the first turn, right before the model call that receives them.
--
-- Reads:
--   operations
--   model_calls
--   turns
-- Needs:
--   turns WHERE is_new
-- Columns:
--   run               BIGINT
--   anchor_ns         BIGINT   Start of the model call.
--   message_position  BIGINT
--   part_position     BIGINT
--   execution_ns      BIGINT   Start of the model call.
--   process_order     BIGINT
--   order_span_id     VARCHAR
--   input_of          BIGINT   The model call.
--   span_key          BIGINT   The span that represents it.
--   kind              VARCHAR  message.
--   content           VARCHAR
-- Order:
--   none
SELECT
  model_calls.run,
  model_calls.start_ns AS anchor_ns,
  -2_000_000::BIGINT AS message_position,  -- before what the model thought and said
  0::BIGINT AS part_position,
  model_calls.start_ns AS execution_ns,
  operations.process_order,
  operations.span_id AS order_span_id,
  turns.model_call AS input_of,
  turns.model_call AS span_key,
  'message' AS kind,
  turns.user_text AS content
FROM turns
INNER JOIN model_calls USING (model_call)
INNER JOIN operations ON turns.model_call = operations.key
WHERE turns.is_new AND turns.user_text IS NOT NULL;
