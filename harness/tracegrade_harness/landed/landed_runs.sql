-- The runs of the chosen traces, without sub-agents, in the order of their receipt.
--
-- In a trace, the run whose root was received first comes first; its clock has no influence.
--
-- Reads:
--   built_trajectories
--   chosen_traces
--   spans
-- Columns:
--   trace_id         VARCHAR
--   trajectory_id    VARCHAR  One row each.
--   root_span_id     VARCHAR  Sixteen zeros if the trace has no agent.
--   conversation_id  VARCHAR  NULL if the trace names none.
--   kill_point        VARCHAR  The mark that excludes it from attempts; NULL for an attempt.
-- Order:
--   trace_id, when its root was received, trajectory_id
WITH receipts AS (
  SELECT
    spans.trace_id,
    spans.span_id,
    min({ 'ns': spans.received_ns, 'seq': spans.wal_seq }) AS received
  FROM spans
  SEMI JOIN chosen_traces ON spans.trace_id = chosen_traces.trace_id
  GROUP BY spans.trace_id, spans.span_id
)

SELECT
  runs.trace_id,
  runs.trajectory_id,
  runs.root_span_id,
  runs.conversation_id,
  runs.kill_point
FROM built_trajectories AS runs
LEFT JOIN receipts ON runs.trace_id = receipts.trace_id AND runs.root_span_id = receipts.span_id
WHERE runs.parent_trajectory_id IS NULL
ORDER BY runs.trace_id ASC, receipts.received ASC NULLS LAST, runs.trajectory_id ASC;
