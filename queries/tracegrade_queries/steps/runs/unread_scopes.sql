-- Number of traces in the bucket without a trajectory, by the scope of their outermost span.
--
-- Traces whose calls another trace records in full are left out, and so are spans that were made
-- of an agent's log records.
--
-- Reads:
--   bucket_spans
--   built_trajectories
--   lone_copies
-- Columns:
--   scope_name  VARCHAR  '' if none was sent; one row each.
--   traces      BIGINT   At least 1.
-- Order:
--   none
WITH copied AS (
  SELECT bucket_spans.trace_id
  FROM bucket_spans
  SEMI JOIN lone_copies USING (key)
),

outermost AS (
  SELECT
    bucket_spans.trace_id,
    -- A root comes first, then the earliest span.
    arg_min(
      coalesce(bucket_spans.scope_name, ''),
      (bucket_spans.parent_span_id IS NOT NULL, bucket_spans.start_ns, bucket_spans.span_id)
    ) AS scope_name
  FROM bucket_spans
  ANTI JOIN built_trajectories USING (trace_id)
  ANTI JOIN copied USING (trace_id)
  WHERE coalesce(bucket_spans.scope_name, '') NOT IN ('codex.records', 'gemini_cli.records')
  GROUP BY bucket_spans.trace_id
)

SELECT
  scope_name,
  count(*) AS traces
FROM outermost
GROUP BY scope_name;
