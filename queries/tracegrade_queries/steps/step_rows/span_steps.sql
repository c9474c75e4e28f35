-- Steps with a span of their own: plans, thoughts, answers, hand-overs, free observations.
--
-- A plan span with a model call below it is read from that call. A hand-over span repeats its
-- request, if models requested any.
--
-- Reads:
--   operations
--   operation_runs
--   known_parents
--   model_members
--   model_texts
--   observers
--   calls
-- Needs:
--   operations WHERE operation IN ('plan', 'thought', 'answer', 'observation', 'handoff')
-- Columns:
--   run               BIGINT
--   anchor_ns         BIGINT   Start of the span.
--   message_position  BIGINT   0.
--   part_position     BIGINT   0.
--   execution_ns      BIGINT   Start of the span.
--   process_order     BIGINT
--   order_span_id     VARCHAR
--   span_key          BIGINT   One row each.
--   kind              VARCHAR  plan | thought | answer | handoff | observation.
--   content           VARCHAR
--   plan              VARCHAR
-- Order:
--   none
WITH plans_in_texts AS (
  SELECT DISTINCT known_parents.parent AS key
  FROM known_parents
  INNER JOIN model_members USING (key)
  SEMI JOIN model_texts USING (model_call)
  WHERE known_parents.parent_operation = 'plan'
),

handed_over AS (
  SELECT DISTINCT run
  FROM calls
  WHERE kind = 'handoff'
)

SELECT
  operation_runs.run,
  operations.start_ns AS anchor_ns,
  0::BIGINT AS message_position,
  0::BIGINT AS part_position,
  operations.start_ns AS execution_ns,
  operations.process_order,
  operations.span_id AS order_span_id,
  operations.key AS span_key,
  operations.operation AS kind,
  coalesce(operations.content, operations.answer) AS content,
  if(
    operations.operation = 'plan',
    coalesce(operations.plan, plan_in_text(coalesce(operations.content, operations.answer))),
    operations.plan
  ) AS plan
FROM operations
INNER JOIN operation_runs USING (key)
ANTI JOIN plans_in_texts USING (key)
ANTI JOIN observers USING (key)
LEFT JOIN handed_over USING (run)
WHERE
  operations.operation IN ('plan', 'thought', 'answer', 'observation')
  OR (operations.operation = 'handoff' AND handed_over.run IS NULL);
