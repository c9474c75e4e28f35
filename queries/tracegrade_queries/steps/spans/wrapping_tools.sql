-- Tool spans that are a whole run: the only root of a trace, with model calls and no agent below.
--
-- No model can have requested them. Semantic Kernel writes every function of a program as the
-- execution of a tool, also a prompt that the program sends to a model itself.
--
-- Reads:
--   bucket_spans
--   found_operations
-- Needs:
--   found_operations WHERE operation = 'tool' AND parent_span_id IS NULL AND call_id IS NULL
-- Columns:
--   key  BIGINT  One row each.
-- Order:
--   none
WITH traces AS (
  SELECT
    trace_id,
    any_value(key) FILTER (
      WHERE operation = 'tool' AND parent_span_id IS NULL AND call_id IS NULL
    ) AS key
  FROM found_operations
  GROUP BY trace_id
  HAVING
    key IS NOT NULL
    AND bool_or(operation = 'model')
    AND NOT bool_or(operation = 'agent')
)

SELECT traces.key
FROM traces
INNER JOIN bucket_spans USING (trace_id)
WHERE bucket_spans.parent_span_id IS NULL
GROUP BY traces.key
HAVING count(*) = 1;
