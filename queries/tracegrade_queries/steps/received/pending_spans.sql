-- Logfire's notes that a span has begun: spans of no length below it, which record its position.
--
-- If the span itself arrived, its note is superfluous; otherwise the note replaces the span, which
-- has not ended.
--
-- Reads:
--   distinct_spans
-- Needs:
--   distinct_spans WHERE start_ns = end_ns AND attributes['logfire.span_type'] = 'pending_span'
-- Columns:
--   key             BIGINT   One row each.
--   span_id         VARCHAR  The span that has begun.
--   parent_span_id  VARCHAR  Its parent; NULL at a root.
--   is_superseded   BOOLEAN  The span itself came.
-- Order:
--   none
WITH pending AS (
  SELECT
    key,
    trace_id,
    parent_span_id AS span_id,
    nullif(attributes['logfire.pending_parent_id'], '0000000000000000') AS parent_span_id
  FROM distinct_spans
  WHERE
    start_ns = end_ns
    AND attributes['logfire.span_type'] = 'pending_span'
    AND parent_span_id IS NOT NULL
)

SELECT
  pending.key,
  pending.span_id,
  pending.parent_span_id,
  ended_spans.span_id IS NOT NULL AS is_superseded
FROM pending
LEFT JOIN distinct_spans AS ended_spans USING (trace_id, span_id);
