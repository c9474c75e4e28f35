-- Answers of each run that have spans of their own: answer spans, and the run's agent spans.
--
-- Reads:
--   operations
--   operation_runs
-- Needs:
--   operations WHERE operation IN ('agent', 'answer') AND answer <> ''
-- Columns:
--   run          BIGINT   One row each; runs without any have none.
--   root_answer  VARCHAR  Answer of the outermost agent span that has one.
--   root_key     BIGINT   Key of that span.
--   span_answer  VARCHAR  Answer of the last answer span.
-- Order:
--   none
WITH candidates AS (
  SELECT
    operation_runs.run,
    operations.key,
    operations.operation,
    operations.process_order,
    operations.start_ns,
    operations.end_ns,
    operations.span_id,
    -- Some end every text with a line break.
    trim(operations.answer, ' ' || chr(9) || chr(10) || chr(13)) AS answer
  FROM operations
  INNER JOIN operation_runs USING (key)
  WHERE operations.operation IN ('agent', 'answer') AND operations.answer IS NOT NULL
)

SELECT
  run,
  arg_min(answer, (start_ns, -end_ns, span_id)) FILTER (WHERE operation = 'agent') AS root_answer,
  arg_min(key, (start_ns, -end_ns, span_id)) FILTER (WHERE operation = 'agent') AS root_key,
  arg_max(answer, (start_ns, process_order, span_id)) FILTER (WHERE operation = 'answer')
    AS span_answer
FROM candidates
WHERE answer <> ''
GROUP BY run;
