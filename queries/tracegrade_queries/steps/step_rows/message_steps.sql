-- Steps from the output of model calls: thoughts, messages, answers and plans.
--
-- An answer that an answer span repeats is left out; if there is an answer span with another text,
-- the model's own answer is a message.
--
-- Reads:
--   operations
--   model_calls
--   model_parts
--   recovered_thoughts
--   model_texts
--   answers
--   inner_tools
-- Needs:
--   model_calls
-- Columns:
--   run               BIGINT
--   anchor_ns         BIGINT   Start of the model call; end of the tools that ran in its span.
--   message_position  BIGINT
--   part_position     BIGINT
--   execution_ns      BIGINT   Start of the model call.
--   process_order     BIGINT
--   order_span_id     VARCHAR
--   model_call        BIGINT
--   span_key          BIGINT   The span that represents the model call.
--   kind              VARCHAR  thought | message | answer | plan.
--   content           VARCHAR
--   plan              VARCHAR  JSON list in the text of a plan; NULL if it cannot be read.
-- Order:
--   none
WITH contents AS (
  SELECT
    model_call,
    message_position,
    part_position,
    'thought' AS kind,
    text
  FROM model_parts
  WHERE direction = 'out' AND part_type = 'reasoning' AND text IS NOT NULL
  UNION ALL
  SELECT
    model_call,
    message_position - position_gap() AS message_position,  -- before the rest of its output
    part_position,
    'thought' AS kind,
    text
  FROM recovered_thoughts
  UNION ALL
  SELECT
    model_call,
    message_position,
    part_position,
    kind,
    text
  FROM model_texts
)

SELECT
  model_calls.run,
  coalesce(inner_tools.end_ns, model_calls.start_ns) AS anchor_ns,
  contents.message_position,
  contents.part_position,
  model_calls.start_ns AS execution_ns,
  operations.process_order,
  operations.span_id AS order_span_id,
  contents.model_call,
  contents.model_call AS span_key,
  CASE
    WHEN contents.kind = 'answer' AND answers.span_answer IS NOT NULL THEN 'message'
    ELSE contents.kind
  END AS kind,
  contents.text AS content,
  CASE WHEN contents.kind = 'plan' THEN plan_in_text(contents.text) END AS plan
FROM contents
INNER JOIN model_calls USING (model_call)
INNER JOIN operations ON contents.model_call = operations.key
LEFT JOIN inner_tools USING (model_call)
LEFT JOIN answers ON model_calls.run = answers.run
WHERE contents.kind <> 'answer' OR answers.span_answer IS DISTINCT FROM contents.text;
