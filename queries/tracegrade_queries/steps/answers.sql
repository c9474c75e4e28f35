-- Answers of each run that stand on spans of their own: answer spans, and the run's agent spans.
--
-- Reads:
--   operations
--   runs_of_operations
-- Columns:
--   trajectory_id  VARCHAR  One row each; runs without any have none.
--   root_answer    VARCHAR  Of the outermost agent span that has one.
--   root_key       BIGINT   Key of that span.
--   said_answer    VARCHAR  Of the last answer span.
-- Order:
--   none
SELECT
  runs_of_operations.trajectory_id,
  arg_min(
    trim(operations.answer), (operations.start_ns, -operations.end_ns, operations.span_id)
  ) FILTER (WHERE operations.operation = 'agent') AS root_answer,
  arg_min(operations.key, (operations.start_ns, -operations.end_ns, operations.span_id))
  FILTER (WHERE operations.operation = 'agent') AS root_key,
  arg_max(
    trim(operations.answer), (operations.start_ns, operations.process_order, operations.span_id)
  )
  FILTER (WHERE operations.operation = 'answer') AS said_answer
FROM operations
INNER JOIN runs_of_operations USING (key)
WHERE
  nullif(trim(operations.answer), '') IS NOT NULL AND operations.operation IN ('agent', 'answer')
GROUP BY runs_of_operations.trajectory_id;
