-- Answers that only the span of the agent tells; they stand at its end.
--
-- Reads:
--   operations
--   model_calls
--   model_texts
--   calls
--   answers
-- Needs:
--   answers WHERE span_answer IS NULL
-- Columns:
--   run               BIGINT   One row each.
--   anchor_ns         BIGINT   End of the span.
--   message_position  BIGINT   0.
--   part_position     BIGINT   0.
--   execution_ns      BIGINT   End of the span.
--   process_order     BIGINT
--   order_span_id     VARCHAR
--   span_key          BIGINT
--   kind              VARCHAR  answer.
--   content           VARCHAR
-- Order:
--   none
WITH answered AS (
  SELECT run
  FROM calls
  WHERE kind = 'answer'
  UNION
  SELECT model_calls.run
  FROM model_texts
  INNER JOIN model_calls USING (model_call)
  WHERE model_texts.kind = 'answer'
)

SELECT
  answers.run,
  operations.end_ns AS anchor_ns,
  0::BIGINT AS message_position,
  0::BIGINT AS part_position,
  operations.end_ns AS execution_ns,
  operations.process_order,
  operations.span_id AS order_span_id,
  operations.key AS span_key,
  'answer' AS kind,
  answers.root_answer AS content
FROM answers
INNER JOIN operations ON answers.root_key = operations.key
ANTI JOIN answered USING (run)
WHERE answers.span_answer IS NULL;
