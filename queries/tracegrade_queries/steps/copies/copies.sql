-- Number of spans in the bucket that record a call which another span records, by reason.
--
-- `replayed`: at another time, as a workflow's replay does. `exported_twice`: at the same time,
-- with another span id, as all `spans_exported_twice` are. `polled`: the client requested an
-- answer again. `second_instrumentation`: another scope wrote it.
--
-- Reads:
--   spans_exported_twice
--   lone_copies
--   model_copy_ends
--   model_records
--   model_twin_edges
--   operations
--   tool_copies
--   tool_records
--   tool_twin_edges
-- Needs:
--   model_copy_ends or tool_copies or model_twin_edges or tool_twin_edges or lone_copies
--     or spans_exported_twice
-- Columns:
--   reason  VARCHAR  One row each.
--   calls   BIGINT   At least 1.
-- Order:
--   none
WITH pairs AS (
  SELECT
    copies.scope_name <> originals.scope_name AS is_other_scope,
    copies.start_ns = originals.start_ns AND copies.end_ns = originals.end_ns AS is_at_once,
    (copies.input IS NULL) <> (originals.input IS NULL) AS is_poll
  FROM model_copy_ends
  INNER JOIN model_records AS copies ON model_copy_ends.key = copies.record
  INNER JOIN model_records AS originals ON model_copy_ends.last = originals.record
  UNION ALL BY NAME
  SELECT
    copies.scope_name <> originals.scope_name AS is_other_scope,
    copies.start_ns = originals.start_ns AND copies.end_ns = originals.end_ns AS is_at_once,
    FALSE AS is_poll
  FROM tool_copies
  INNER JOIN tool_records AS copies USING (key)
  INNER JOIN tool_records AS originals ON tool_copies.next = originals.key
  UNION ALL BY NAME
  SELECT TRUE AS is_other_scope
  FROM model_twin_edges
  UNION ALL BY NAME
  SELECT TRUE AS is_other_scope
  FROM tool_twin_edges
  UNION ALL BY NAME
  SELECT TRUE AS is_other_scope
  FROM lone_copies
  UNION ALL BY NAME
  SELECT
    FALSE AS is_other_scope,
    TRUE AS is_at_once
  FROM spans_exported_twice
  INNER JOIN operations ON spans_exported_twice.counted_key = operations.key
  WHERE operations.operation IN ('model', 'tool')
)

SELECT
  CASE
    WHEN is_other_scope THEN 'second_instrumentation'
    WHEN is_at_once THEN 'exported_twice'
    WHEN is_poll THEN 'polled'
    ELSE 'replayed'
  END AS reason,
  count(*) AS calls
FROM pairs
GROUP BY ALL;
