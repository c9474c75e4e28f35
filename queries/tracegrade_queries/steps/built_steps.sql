-- The steps of the bucket's trajectories, as the table `steps` declares them.
--
-- Reads:
--   bucket_traces
--   operations
--   name_ends
--   run_names
--   model_calls
--   turns
--   calls
--   step_rows
-- Columns:
--   as the table steps
-- Order:
--   trajectory_id, step_index
WITH numbered AS (
  SELECT
    *,
    (
      row_number() OVER (
        PARTITION BY trajectory_id
        ORDER BY
          anchor_ns, message_position, part_position, execution_ns, process_order, order_span_id,
          place, span_key
      ) - 1
    )::INTEGER AS step_index
  FROM step_rows
),

placed AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY model_call ORDER BY step_index) = 1
    AND model_call IS NOT NULL AS is_first_of_model_call
  FROM numbered
),

called AS (
  SELECT
    call,
    step_index
  FROM numbered
  WHERE place = 0 AND call IS NOT NULL
),

-- A step that no model call produced is of the turn of the last model call before it.
turned AS (
  SELECT
    placed.*,
    coalesce(
      last(turns.turn IGNORE NULLS) OVER (
        PARTITION BY placed.trajectory_id ORDER BY placed.step_index
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ),
      0
    )::INTEGER AS turn
  FROM placed
  LEFT JOIN turns
    ON coalesce(placed.model_call, CASE WHEN placed.role = 'user' THEN placed.span_key END)
      = turns.model_call
)

SELECT
  turned.trajectory_id,
  turned.step_index,
  turned.turn,
  turned.kind,
  turned.role,
  coalesce(operations.agent_name, named.agent_name, run_names.agent_name) AS agent_name,
  coalesce(calls.tool_name, operations.tool_name) AS tool_name,
  coalesce(calls.call_id, operations.call_id) AS tool_call_id,
  CASE WHEN turned.place = 0 THEN calls.arguments END AS arguments,
  CASE WHEN turned.place = 0 THEN calls.result END AS result,
  turned.content,
  turned.plan,
  coalesce(operations.sub_goal, producing.sub_goal) AS sub_goal,
  coalesce(operations.decision, producing.decision) AS decision,
  CASE WHEN turned.place = 1 THEN called.step_index END AS call_step,
  CASE WHEN turned.kind = 'tool_call' THEN calls.status END AS status,
  CASE WHEN turned.kind = 'tool_call' THEN calls.status_source END AS status_source,
  CASE WHEN turned.place = 0 THEN calls.error_type END AS error_type,
  CASE WHEN turned.place = 0 THEN calls.error_message END AS error_message,
  CASE WHEN turned.kind = 'tool_call' THEN calls.offered END AS offered,
  CASE WHEN turned.place = 0 THEN calls.effect END AS effect,
  CASE WHEN turned.place = 0 THEN calls.cost END AS cost,
  model_calls.model,
  CASE WHEN turned.is_first_of_model_call THEN model_calls.input_tokens END AS input_tokens,
  CASE WHEN turned.is_first_of_model_call THEN model_calls.output_tokens END AS output_tokens,
  CASE WHEN turned.is_first_of_model_call THEN model_calls.cache_read_tokens END
    AS cache_read_tokens,
  CASE WHEN turned.is_first_of_model_call THEN model_calls.reasoning_tokens END
    AS reasoning_tokens,
  make_timestamp_ns(operations.start_ns)::TIMESTAMP AS start_time,
  make_timestamp_ns(operations.end_ns)::TIMESTAMP AS end_time,
  (operations.end_ns - operations.start_ns) / 1e6 AS duration_ms,
  operations.trace_id,
  operations.span_id,
  model_calls.span_id AS request_span_id,
  operations.parent_span_id,
  operations.dialect,
  turned.provenance,
  list_sort(
    list_distinct(
      operations.flags
      || CASE WHEN turned.place = 0 AND NOT calls.parsed THEN ['unparsed_arguments'] ELSE [] END
      || CASE WHEN operations.dropped THEN ['dropped_attributes'] ELSE [] END
    )
  ) AS flags,
  bucket_traces.date
FROM turned
INNER JOIN operations ON turned.span_key = operations.key
INNER JOIN bucket_traces ON operations.trace_id = bucket_traces.trace_id
LEFT JOIN run_names ON turned.trajectory_id = run_names.trajectory_id
LEFT JOIN name_ends ON turned.span_key = name_ends.key
LEFT JOIN operations AS named ON name_ends.last = named.key
LEFT JOIN operations AS producing ON turned.model_call = producing.key
LEFT JOIN model_calls ON turned.model_call = model_calls.model_call
LEFT JOIN calls ON turned.call = calls.call
LEFT JOIN called ON turned.call = called.call
ORDER BY turned.trajectory_id, turned.step_index;
