-- The way up from spans to the nearest evaluator, in traces that have one.
--
-- Reads:
--   bucket_spans
--   found_operations
--   tree
-- Needs:
--   found_operations WHERE operation = 'evaluator'
-- Ends:
--   judge_ends
-- Columns:
--   key   BIGINT  Span that is not an evaluator.
--   next  BIGINT  Its parent.
-- Order:
--   none
WITH evaluators AS (
  SELECT
    key,
    trace_id
  FROM found_operations
  WHERE operation = 'evaluator'
)

SELECT
  tree.key,
  tree.next
FROM tree
INNER JOIN bucket_spans USING (key)
SEMI JOIN evaluators ON bucket_spans.trace_id = evaluators.trace_id
ANTI JOIN evaluators AS tops ON tree.key = tops.key;
