-- Executions in traces with repeated ids, and how often models requested each.
--
-- Reads:
--   bucket_spans
--   dialect_messages
--   known_parents
--   model_copy_ends
--   model_ends
--   operations
--   repeating_traces
--   run_copies
--   placed_operations
-- Needs:
--   repeating_traces
-- Columns:
--   key          BIGINT   Tool span that is in no other; one row each.
--   trace_id     VARCHAR
--   run          BIGINT
--   counted_run  BIGINT   The run that represents it.
--   rank         BIGINT   As in model_records.
--   scope_name   VARCHAR
--   call_id      VARCHAR
--   output       HUGEINT  Digest of its tool, id, arguments, result and failure.
--   failed       BOOLEAN
--   start_ns     BIGINT
--   end_ns       BIGINT
--   requests     BIGINT   Requests with its id, each once; 0 if none was recorded.
--   replayed     BOOLEAN  One of these was recorded more than once; if none was, some call of the
--                         trace.
-- Order:
--   none
WITH records AS (
  SELECT
    operations.key,
    operations.trace_id,
    coalesce(model_ends.last, operations.key) AS record
  FROM operations
  SEMI JOIN repeating_traces USING (trace_id)
  LEFT JOIN model_ends USING (key)
  WHERE operations.operation = 'model'
),

replaying_traces AS (
  SELECT DISTINCT records.trace_id
  FROM records
  SEMI JOIN model_copy_ends ON records.record = model_copy_ends.key
),

requests AS (
  SELECT
    records.trace_id,
    parts.call_id,
    count(DISTINCT coalesce(model_copy_ends.last, records.record)) AS requests,
    count(DISTINCT records.record) AS records
  FROM records
  INNER JOIN dialect_messages AS parts USING (key)
  LEFT JOIN model_copy_ends ON records.record = model_copy_ends.key
  WHERE parts.direction = 'out' AND parts.part_type = 'tool_call' AND parts.call_id <> ''
  GROUP BY records.trace_id, parts.call_id
)

SELECT
  operations.key,
  operations.trace_id,
  placed_operations.run,
  coalesce(run_copies.counted_run, placed_operations.run) AS counted_run,
  row_number() OVER (
    ORDER BY
      coalesce(tops.parent_span_id IS NOT NULL, FALSE), operations.start_ns, operations.span_id,
      operations.key
  ) AS rank,
  operations.scope_name,
  operations.call_id,
  part_digest(
    operations.operation,
    operations.tool_name,
    operations.call_id,
    operations.arguments,
    concat_ws(' ', operations.failed::VARCHAR, operations.result, operations.error_message)
  ) AS output,
  operations.failed,
  operations.start_ns,
  operations.end_ns,
  coalesce(requests.requests, 0) AS requests,
  coalesce(
    requests.records > requests.requests,
    replaying_traces.trace_id IS NOT NULL
  ) AS replayed
FROM operations
SEMI JOIN repeating_traces USING (trace_id)
INNER JOIN placed_operations USING (key)
INNER JOIN known_parents USING (key)
LEFT JOIN bucket_spans AS tops ON known_parents.top = tops.key
LEFT JOIN run_copies ON placed_operations.run = run_copies.run
LEFT JOIN requests
  ON operations.trace_id = requests.trace_id AND operations.call_id = requests.call_id
LEFT JOIN replaying_traces ON operations.trace_id = replaying_traces.trace_id
WHERE operations.operation = 'tool' AND known_parents.parent_operation IS DISTINCT FROM 'tool';
