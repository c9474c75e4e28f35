SELECT
  calls.trajectory_id, calls.anchor_ns, calls.message_position, calls.part_position, calls.execution_ns,
  operations.process_order, operations.span_id AS order_span_id, 0 AS place,
  calls.call, 'tool_call' AS kind, 'assistant' AS role, operations.key AS span_key, calls.model_call,
  calls.tool_name, calls.call_id AS tool_call_id, calls.arguments, calls.result, NULL::VARCHAR AS content, NULL::VARCHAR AS plan,
  calls.status, calls.status_source, calls.error_type, calls.error_message, calls.effect, calls.cost, 'span' AS provenance
FROM calls INNER JOIN operations ON calls.execution = operations.key
UNION ALL BY NAME
SELECT
  runs_of_operations.trajectory_id, operations.start_ns AS anchor_ns, 0 AS message_position, 0 AS part_position, operations.start_ns AS execution_ns,
  operations.process_order, operations.span_id AS order_span_id, 0 AS place,
  operations.operation AS kind, CASE operations.operation WHEN 'observation' THEN 'environment' ELSE 'assistant' END AS role, operations.key AS span_key,
  coalesce(operations.content, operations.answer) AS content, operations.plan, 'span' AS provenance
FROM operations INNER JOIN runs_of_operations USING (key)
WHERE operations.operation IN ('plan', 'thought', 'answer') OR (operations.operation = 'observation' AND operations.linked_span_id IS NULL)
UNION ALL BY NAME
SELECT
  calls.trajectory_id, calls.anchor_ns, calls.message_position, calls.part_position, calls.execution_ns,
  operations.process_order, operations.span_id AS order_span_id, 1 AS place,
  calls.call, 'observation' AS kind, 'tool' AS role, coalesce(observing.key, operations.key) AS span_key, calls.tool_name, calls.call_id AS tool_call_id,
  coalesce(observing.content, calls.observed, calls.result) AS content, CASE WHEN observing.key IS NULL THEN 'derived' ELSE 'span' END AS provenance
FROM calls INNER JOIN operations ON calls.execution = operations.key
LEFT JOIN operations AS observing ON observing.operation = 'observation' AND observing.trace_id = operations.trace_id AND observing.linked_span_id = operations.span_id
WHERE coalesce(observing.content, calls.observed, calls.result) IS NOT NULL OR observing.key IS NOT NULL;
