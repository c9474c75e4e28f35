-- How many traces of the bucket gave no trajectory, by the scope of their outermost span.
--
-- Reads:
--   bucket_spans
--   built_trajectories
-- Columns:
--   scope_name  VARCHAR  '' if none was sent; one row each.
--   traces      BIGINT   At least 1.
-- Order:
--   none
WITH outermost AS (
  SELECT
    bucket_spans.trace_id,
    -- A root comes first, then what starts earliest.
    arg_min(
      coalesce(bucket_spans.scope_name, ''),
      (bucket_spans.parent_span_id IS NOT NULL, bucket_spans.start_ns, bucket_spans.span_id)
    ) AS scope_name
  FROM bucket_spans
  ANTI JOIN built_trajectories USING (trace_id)
  GROUP BY bucket_spans.trace_id
)

SELECT
  scope_name,
  count(*) AS traces
FROM outermost
GROUP BY scope_name;
