-- Observation spans that are linked to a tool span.
--
-- Other observation spans have no tool result.
--
-- Reads:
--   operations
--   operation_runs
--   tool_ends
-- Needs:
--   operations WHERE operation = 'observation'
-- Columns:
--   key        BIGINT   Observation span; one row each.
--   execution  BIGINT   Key in executions that it observes.
--   content    VARCHAR  NULL if the agent saw the tool's result.
--   position   STRUCT(start_ns BIGINT, span_id VARCHAR)  Order of observations of one execution.
-- Order:
--   none
SELECT
  observing.key,
  coalesce(tool_ends.last, executing.key) AS execution,
  observing.content,
  { 'start_ns': observing.start_ns, 'span_id': observing.span_id } AS position
FROM operations AS observing
INNER JOIN operations AS executing
  ON
    observing.trace_id = executing.trace_id
    AND observing.linked_span_id = executing.span_id
    AND executing.operation = 'tool'
SEMI JOIN operation_runs ON observing.key = operation_runs.key
LEFT JOIN tool_ends ON executing.key = tool_ends.key
WHERE observing.operation = 'observation';
