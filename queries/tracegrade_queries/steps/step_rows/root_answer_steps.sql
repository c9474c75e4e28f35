-- Answers that only the agent's span holds.
--
-- They come at its end, or after all other steps of the run if its end is not known.
--
-- Reads:
--   operations
--   operation_runs
--   model_calls
--   model_texts
--   calls
--   answers
-- Needs:
--   answers WHERE span_answer IS NULL
-- Columns:
--   run               BIGINT   One row each.
--   anchor_ns         BIGINT   End of the span, else the latest time of its run.
--   message_position  BIGINT   0; where the end is not known, after all else of that time.
--   part_position     BIGINT   0.
--   execution_ns      BIGINT   As anchor_ns.
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
),

open_runs AS (
  SELECT answers.run
  FROM answers
  INNER JOIN operations ON answers.root_key = operations.key
  WHERE NOT operations.ended
),

latest AS (
  SELECT
    operation_runs.run,
    max(operations.end_ns) AS end_ns
  FROM operation_runs
  SEMI JOIN open_runs USING (run)
  INNER JOIN operations USING (key)
  GROUP BY operation_runs.run
)

SELECT
  answers.run,
  coalesce(latest.end_ns, operations.end_ns) AS anchor_ns,
  if(latest.run IS NULL, 0, position_gap())::BIGINT AS message_position,
  0::BIGINT AS part_position,
  coalesce(latest.end_ns, operations.end_ns) AS execution_ns,
  operations.process_order,
  operations.span_id AS order_span_id,
  operations.key AS span_key,
  'answer' AS kind,
  answers.root_answer AS content
FROM answers
INNER JOIN operations ON answers.root_key = operations.key
ANTI JOIN answered USING (run)
LEFT JOIN latest ON answers.run = latest.run
WHERE answers.span_answer IS NULL;
