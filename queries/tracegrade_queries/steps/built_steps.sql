WITH numbered AS (
  SELECT *, row_number() OVER (PARTITION BY trajectory_id ORDER BY anchor_ns, message_position, part_position, execution_ns, process_order, order_span_id, place, span_key) - 1 AS step_index
  FROM step_rows
)
SELECT
  numbered.trajectory_id,
  numbered.step_index::INTEGER AS step_index,
  0::INTEGER AS turn,
  numbered.kind,
  numbered.role,
  operations.agent_name,
  numbered.tool_name,
  numbered.tool_call_id,
  numbered.arguments,
  numbered.result,
  numbered.content,
  numbered.plan,
  operations.sub_goal,
  operations.decision,
  call_steps.step_index::INTEGER AS call_step,
  numbered.status,
  numbered.status_source,
  numbered.error_type,
  numbered.error_message,
  NULL::BOOLEAN AS offered,
  numbered.effect,
  numbered.cost,
  NULL::VARCHAR AS model,
  NULL::BIGINT AS input_tokens,
  NULL::BIGINT AS output_tokens,
  NULL::BIGINT AS cache_read_tokens,
  NULL::BIGINT AS reasoning_tokens,
  make_timestamp_ns(operations.start_ns)::TIMESTAMP AS start_time,
  make_timestamp_ns(operations.end_ns)::TIMESTAMP AS end_time,
  (operations.end_ns - operations.start_ns) / 1e6 AS duration_ms,
  operations.trace_id,
  operations.span_id,
  NULL::VARCHAR AS request_span_id,
  operations.parent_span_id,
  operations.dialect,
  numbered.provenance,
  []::VARCHAR[] AS flags,
  bucket_traces.date
FROM numbered
INNER JOIN operations ON numbered.span_key = operations.key
INNER JOIN bucket_traces ON operations.trace_id = bucket_traces.trace_id
LEFT JOIN numbered AS call_steps ON numbered.place = 1 AND call_steps.place = 0 AND numbered.call = call_steps.call
ORDER BY numbered.trajectory_id, numbered.step_index;
