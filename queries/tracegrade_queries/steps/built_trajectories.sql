WITH first_of_run AS (
  SELECT runs_of_operations.trajectory_id,
    any_value(runs_of_operations.root) AS root,
    any_value(operations.trace_id) AS trace_id,
    arg_min(operations.agent_name, (operations.start_ns, operations.span_id)) AS agent_name,
    arg_min(operations.service_name, (operations.start_ns, operations.span_id)) AS service_name,
    arg_min(operations.release, (operations.start_ns, operations.span_id)) AS release,
    arg_min(operations.environment, (operations.start_ns, operations.span_id)) AS environment,
    arg_min(operations.conversation_id, (operations.start_ns, operations.span_id)) AS conversation_id,
    arg_min(operations.task_id, (operations.start_ns, operations.span_id)) AS task_id,
    arg_min(operations.task_category, (operations.start_ns, operations.span_id)) AS task_category,
    arg_min(operations.trial, (operations.start_ns, operations.span_id)) AS trial,
    arg_min(operations.run_mode, (operations.start_ns, operations.span_id)) AS run_mode,
    arg_min(operations.user_input, (operations.start_ns, operations.span_id)) AS user_input,
    arg_min(operations.outcome, (operations.start_ns, operations.span_id)) AS outcome,
    arg_min(operations.offered_tools, (operations.start_ns, operations.span_id)) AS offered_tools,
    arg_max(operations.answer, (operations.start_ns, operations.span_id)) FILTER (WHERE operation IN ('answer', 'agent')) AS final_answer,
    min(operations.start_ns) AS start_ns,
    max(operations.end_ns) AS end_ns,
    count(*) FILTER (WHERE operations.operation = 'model') AS llm_call_count,
    list_sort(list_distinct(list(operations.dialect))) AS dialects
  FROM runs_of_operations INNER JOIN operations USING (key)
  GROUP BY 1
),
counts AS (
  SELECT trajectory_id, count(*) AS step_count, count(*) FILTER (WHERE kind = 'tool_call') AS tool_call_count,
  count(*) FILTER (WHERE status IN ('error', 'not_executed')) AS error_count
  FROM built_steps GROUP BY 1
)
SELECT
  first_of_run.trajectory_id,
  callers.trajectory_id AS parent_trajectory_id,
  first_of_run.trace_id,
  coalesce(roots.span_id, '0000000000000000') AS root_span_id,
  first_of_run.agent_name,
  first_of_run.service_name,
  first_of_run.release,
  first_of_run.environment,
  first_of_run.conversation_id,
  first_of_run.task_id,
  first_of_run.task_category,
  first_of_run.trial,
  first_of_run.run_mode,
  first_of_run.user_input,
  first_of_run.final_answer,
  first_of_run.outcome,
  CASE WHEN first_of_run.outcome IS NOT NULL THEN 'trace' END AS outcome_source,
  coalesce(counts.step_count, 0)::INTEGER AS step_count,
  coalesce(counts.tool_call_count, 0)::INTEGER AS tool_call_count,
  coalesce(counts.error_count, 0)::INTEGER AS error_count,
  first_of_run.llm_call_count::INTEGER AS llm_call_count,
  NULL::BIGINT AS input_tokens,
  NULL::BIGINT AS output_tokens,
  NULL::DOUBLE AS cost_usd,
  make_timestamp_ns(coalesce(roots.start_ns, first_of_run.start_ns))::TIMESTAMP AS start_time,
  make_timestamp_ns(coalesce(roots.end_ns, first_of_run.end_ns))::TIMESTAMP AS end_time,
  (coalesce(roots.end_ns, first_of_run.end_ns) - coalesce(roots.start_ns, first_of_run.start_ns)) / 1e6 AS duration_ms,
  roots.key IS NOT NULL AND (tops.parent_span_id IS NULL) AS complete,
  first_of_run.offered_tools,
  first_of_run.dialects,
  1.0::DOUBLE AS sample_weight,
  bucket_traces.date
FROM first_of_run
LEFT JOIN counts USING (trajectory_id)
LEFT JOIN run_agents AS roots ON first_of_run.root = roots.key
LEFT JOIN runs_of_operations AS callers ON roots.caller = callers.key
LEFT JOIN known_parents ON roots.key = known_parents.key
LEFT JOIN bucket_spans AS tops ON known_parents.top = tops.key
INNER JOIN bucket_traces ON first_of_run.trace_id = bucket_traces.trace_id
ORDER BY first_of_run.trajectory_id;
