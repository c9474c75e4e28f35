-- The steps of the bucket's trajectories, as the table `steps` declares them.
--
-- Reads:
--   bucket_traces
--   operations
--   name_ends
--   run_ids
--   run_agent_names
--   model_calls
--   calls
--   cut_calls
--   deep_texts
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
    opening.step_index IS NOT NULL AS opens_model_call
  FROM step_rows
  LEFT JOIN opening
    ON
      step_rows.model_call = opening.model_call
      AND step_rows.step_index = opening.step_index
),

-- Few spans name an agent, a sub-goal or a decision; joins with all of them would take longer.
naming AS (
  SELECT
    key,
    agent_name
  FROM operations
  WHERE agent_name IS NOT NULL
),

serving AS (
  SELECT
    key,
    sub_goal,
    decision
  FROM operations
  WHERE sub_goal IS NOT NULL OR decision IS NOT NULL
)

SELECT
  run_ids.trajectory_id,
  placed.step_index,
  placed.turn,
  placed.kind,
  placed.role,
  coalesce(operations.agent_name, naming.agent_name, run_agent_names.agent_name) AS agent_name,
  -- OpenLIT writes the requested tool's name on the span of the model call; no other step has it.
  coalesce(
    calls.tool_name,
    observed.tool_name,
    if(operations.operation IN ('agent', 'model'), NULL, operations.tool_name)
  ) AS tool_name,
  coalesce(
    calls.call_id,
    observed.call_id,
    if(operations.operation IN ('agent', 'model'), NULL, operations.call_id)
  ) AS tool_call_id,
  calls.arguments,
  calls.result,
  placed.content,
  placed.plan,
  coalesce(operations.sub_goal, serving.sub_goal) AS sub_goal,
  coalesce(operations.decision, serving.decision) AS decision,
  called.step_index AS call_step,
  CASE WHEN placed.kind = 'tool_call' THEN calls.status END AS status,
  CASE WHEN placed.kind = 'tool_call' THEN calls.status_source END AS status_source,
  CASE WHEN placed.kind = 'tool_call' THEN calls.executed_by END AS executed_by,
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
  CASE WHEN operations.ended THEN make_timestamp_ns(operations.end_ns)::TIMESTAMP END AS end_time,
  CASE
    WHEN operations.ended AND operations.start_ns > 0
      THEN (operations.end_ns - operations.start_ns) / 1e6
  END AS duration_ms,
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
      || CASE WHEN NOT calls.request_parsed AND calls.parsed THEN ['unparsed_request'] ELSE [] END
      || CASE WHEN calls.arguments IN (FROM deep_texts) THEN ['deep_arguments'] ELSE [] END
      || CASE WHEN calls.call IN (FROM cut_calls) THEN ['truncated'] ELSE [] END
      || CASE
        WHEN placed.opens_model_call AND model_calls.ambiguous_tokens THEN ['ambiguous_tokens']
        ELSE []
      END
      || CASE WHEN operations.dropped THEN ['dropped_attributes'] ELSE [] END
    )
  ) AS flags,
  bucket_traces.date
FROM placed
INNER JOIN run_ids ON placed.run = run_ids.run
INNER JOIN operations ON placed.span_key = operations.key
INNER JOIN bucket_traces ON run_ids.trace_id = bucket_traces.trace_id
LEFT JOIN run_agent_names ON placed.run = run_agent_names.run
LEFT JOIN name_ends ON placed.span_key = name_ends.key
LEFT JOIN naming ON name_ends.last = naming.key
LEFT JOIN serving ON placed.model_call = serving.key
LEFT JOIN model_calls ON placed.model_call = model_calls.model_call
LEFT JOIN calls ON placed.call = calls.call
LEFT JOIN calls AS observed ON placed.observed_call = observed.call
LEFT JOIN called ON placed.observed_call = called.call
ORDER BY run_ids.position, placed.step_index;
