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
WITH called AS (
  SELECT
    call,
    step_index
  FROM step_rows
  WHERE call IS NOT NULL
),

turned AS (
  SELECT
    step_rows.trajectory_id,
    step_rows.step_index,
    -- A step that no model call produced is of the turn of the last model call before it.
    last(turns.turn IGNORE NULLS) OVER (
      PARTITION BY step_rows.trajectory_id ORDER BY step_rows.step_index
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS turn
  FROM step_rows
  LEFT JOIN turns ON coalesce(step_rows.model_call, step_rows.heard_by) = turns.model_call
),

opening AS (
  SELECT
    model_call,
    min(step_index) AS step_index
  FROM step_rows
  WHERE model_call IS NOT NULL
  GROUP BY model_call
),

placed AS (
  SELECT
    step_rows.*,
    turned.turn,
    opening.step_index IS NOT NULL AS opens_model_call
  FROM step_rows
  INNER JOIN turned USING (trajectory_id, step_index)
  LEFT JOIN opening
    ON
      step_rows.model_call = opening.model_call
      AND step_rows.step_index = opening.step_index
)

SELECT
  placed.trajectory_id,
  placed.step_index,
  coalesce(placed.turn, 0) AS turn,
  placed.kind,
  placed.role,
  coalesce(operations.agent_name, named.agent_name, run_names.agent_name) AS agent_name,
  coalesce(calls.tool_name, observed.tool_name, operations.tool_name) AS tool_name,
  coalesce(calls.call_id, observed.call_id, operations.call_id) AS tool_call_id,
  calls.arguments,
  calls.result,
  placed.content,
  placed.plan,
  coalesce(operations.sub_goal, producing.sub_goal) AS sub_goal,
  coalesce(operations.decision, producing.decision) AS decision,
  called.step_index AS call_step,
  CASE WHEN placed.kind = 'tool_call' THEN calls.status END AS status,
  CASE WHEN placed.kind = 'tool_call' THEN calls.status_source END AS status_source,
  calls.error_type,
  calls.error_message,
  CASE WHEN placed.kind = 'tool_call' THEN calls.offered END AS offered,
  calls.effect,
  calls.cost,
  model_calls.model,
  CASE WHEN placed.opens_model_call THEN model_calls.input_tokens END AS input_tokens,
  CASE WHEN placed.opens_model_call THEN model_calls.output_tokens END AS output_tokens,
  CASE WHEN placed.opens_model_call THEN model_calls.cache_read_tokens END AS cache_read_tokens,
  CASE WHEN placed.opens_model_call THEN model_calls.reasoning_tokens END AS reasoning_tokens,
  make_timestamp_ns(operations.start_ns)::TIMESTAMP AS start_time,
  make_timestamp_ns(operations.end_ns)::TIMESTAMP AS end_time,
  (operations.end_ns - operations.start_ns) / 1e6 AS duration_ms,
  operations.trace_id,
  operations.span_id,
  model_calls.span_id AS request_span_id,
  operations.parent_span_id,
  operations.dialect,
  placed.provenance,
  list_sort(
    list_distinct(
      operations.flags
      || CASE WHEN NOT calls.parsed THEN ['unparsed_arguments'] ELSE [] END
      || CASE WHEN operations.dropped THEN ['dropped_attributes'] ELSE [] END
    )
  ) AS flags,
  bucket_traces.date
FROM placed
INNER JOIN operations ON placed.span_key = operations.key
INNER JOIN bucket_traces ON operations.trace_id = bucket_traces.trace_id
LEFT JOIN run_names ON placed.trajectory_id = run_names.trajectory_id
LEFT JOIN name_ends ON placed.span_key = name_ends.key
LEFT JOIN operations AS named ON name_ends.last = named.key
LEFT JOIN operations AS producing ON placed.model_call = producing.key
LEFT JOIN model_calls ON placed.model_call = model_calls.model_call
LEFT JOIN calls ON placed.call = calls.call
LEFT JOIN calls AS observed ON placed.observed_call = observed.call
LEFT JOIN called ON placed.observed_call = called.call
ORDER BY placed.trajectory_id, placed.step_index;
