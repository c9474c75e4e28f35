-- Steps that are tool calls, including calls that plan, hand over or answer.
--
-- If an answer tool's arguments are not known, the answer comes from the agent's span.
--
-- Reads:
--   answers
--   operations
--   calls
-- Needs:
--   calls
-- Columns:
--   run               BIGINT
--   anchor_ns         BIGINT   Start of the model call, else of the execution.
--   message_position  BIGINT
--   part_position     BIGINT
--   execution_ns      BIGINT   Start of the execution, else the anchor.
--   process_order     BIGINT
--   order_span_id     VARCHAR
--   call              BIGINT   One row each.
--   execution         BIGINT   NULL if none was recorded.
--   model_call        BIGINT   NULL if none requested it.
--   span_key          BIGINT   Executing span, else the one that represents the model call.
--   kind              VARCHAR  tool_call | plan | handoff | answer.
--   content           VARCHAR  Text of an answer; else NULL.
--   plan              VARCHAR  Items of a plan; else NULL.
-- Order:
--   none
SELECT
  calls.run,
  calls.anchor_ns,
  calls.message_position,
  calls.part_position,
  coalesce(calls.execution_ns, calls.anchor_ns) AS execution_ns,
  operations.process_order,
  operations.span_id AS order_span_id,
  calls.call,
  calls.execution,
  calls.model_call,
  operations.key AS span_key,
  calls.kind,
  CASE
    WHEN calls.kind = 'answer'
      THEN coalesce(answer_in(calls.arguments, calls.result), answers.root_answer)
  END AS content,
  CASE WHEN calls.kind = 'plan' THEN plan_in(calls.arguments) END AS plan
FROM calls
INNER JOIN operations ON coalesce(calls.execution, calls.model_call) = operations.key
LEFT JOIN answers ON calls.run = answers.run;
