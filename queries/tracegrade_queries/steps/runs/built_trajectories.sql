-- The trajectories of the bucket, as the table `trajectories` declares them.
--
-- Reads:
--   bucket_spans
--   bucket_traces
--   operations
--   run_starts
--   run_ids
--   run_agent_names
--   run_labels
--   operation_runs
--   tool_ends
--   calls
--   model_calls
--   step_rows
--   run_token_usage
--   turns
--   answers
--   run_offered_tools
--   built_steps
--   unfinished_runs
--   interrupted_runs
--   utility_calls
--   unrecorded_calls
--   unrecorded_answers
--   unrecorded_thoughts
--   runs_stopped_for_tools
--   open_calls
--   resumed_calls
--   retrieval_calls
--   span_marks
-- Columns:
--   as the table trajectories
-- Order:
--   trajectory_id
WITH members AS (
  SELECT
    operation_runs.run,
    operations.*,
    -- The root comes first, even if its clock differs; then the spans that start earliest and end
    -- last.
    create_sort_key(
      operations.key <> coalesce(run_ids.root, -1), 'ASC NULLS LAST',
      operations.start_ns, 'ASC NULLS LAST',
      operations.end_ns, 'DESC NULLS LAST',
      operations.span_id, 'ASC NULLS LAST'
    ) AS position
  FROM operation_runs
  INNER JOIN run_ids USING (run)
  INNER JOIN operations USING (key)
),

retrieving AS (
  SELECT DISTINCT run
  FROM retrieval_calls
),

marks AS (
  SELECT
    operation_runs.run,
    bool_or(span_marks.is_compacted) AS is_compacted,
    bool_or(span_marks.is_elsewhere) AS is_elsewhere,
    bool_or(span_marks.is_workflow) AS is_workflow
  FROM span_marks
  INNER JOIN operation_runs USING (key)
  GROUP BY operation_runs.run
),

gathered AS (
  SELECT
    run,
    arg_min(service_name, position) AS service_name,
    arg_min(release, position) AS release,
    arg_min(environment, position) AS environment,
    arg_min(conversation_id, position) AS conversation_id,
    arg_min(task_id, position) AS task_id,
    arg_min(task_category, position) AS task_category,
    arg_min(trial, position) AS trial,
    arg_min(run_mode, position) AS run_mode,
    arg_min(kill_point, position) AS kill_point,
    arg_min(user_input, position) FILTER (WHERE operation = 'agent') AS user_input,
    arg_min(user_input, position) FILTER (WHERE operation NOT IN ('agent', 'model'))
      AS stated_input,
    arg_min(outcome, position) FILTER (WHERE operation = 'agent') AS outcome,
    arg_min(trace_state, position) AS trace_state,
    min(start_ns) AS start_ns,
    max(end_ns) FILTER (WHERE ended) AS end_ns,
    bool_and(operation IN ('tool', 'observation')) AS has_tools_alone,
    bool_and(operation IN ('model', 'other')) AS has_models_alone,
    bool_or(dropped) AS dropped,
    bool_or(retries > 0) AS retried,
    count(*) = 1 AS is_alone,
    list_sort(list_distinct(list(dialect))) AS dialects
  FROM members
  GROUP BY run
),

step_counts AS (
  SELECT
    trajectory_id,
    count(*) AS step_count,
    max(turn) + 1 AS turn_count,
    count(*) FILTER (WHERE kind = 'tool_call') AS tool_call_count,
    count(*) FILTER (WHERE status IN ('error', 'not_executed')) AS error_count,
    arg_max(content, step_index) FILTER (WHERE kind = 'answer') AS last_answer
  FROM built_steps
  GROUP BY trajectory_id
),

model_counts AS (
  SELECT
    model_calls.run,
    count(*) AS llm_call_count,
    sum(model_calls.input_tokens) AS input_tokens,
    sum(model_calls.output_tokens) AS output_tokens,
    arg_min(turns.user_text, (model_calls.start_ns, model_calls.model_call)) AS user_text
  FROM model_calls
  INNER JOIN turns USING (model_call)
  GROUP BY model_calls.run
),

-- Runs that only name or summarize a conversation in another trace.
serving_runs AS (
  SELECT model_calls.run
  FROM model_calls
  LEFT JOIN utility_calls USING (model_call)
  GROUP BY model_calls.run
  HAVING bool_and(utility_calls.model_call IS NOT NULL)
),

used AS (
  SELECT
    run,
    {
      'model': model,
      'calls': calls,
      'fresh_input_tokens': fresh_input_tokens,
      'cache_read_tokens': cache_read_tokens,
      'cache_write_tokens': cache_write_tokens,
      'visible_output_tokens': visible_output_tokens,
      'reasoning_tokens': reasoning_tokens,
      'stated_usd': stated_usd
    } AS model_usage
  FROM run_token_usage
),

-- Lists are sorted one by one, which takes long; most runs use one model.
several AS (
  SELECT run
  FROM used
  GROUP BY run
  HAVING count(*) > 1
),

usages AS (
  SELECT
    used.run,
    [used.model_usage] AS model_usage
  FROM used
  ANTI JOIN several USING (run)
  UNION ALL
  SELECT
    used.run,
    list(
      used.model_usage
      ORDER BY
        used.model_usage.model ASC NULLS LAST,
        used.model_usage.fresh_input_tokens IS NULL ASC,
        used.model_usage.stated_usd IS NULL ASC
    ) AS model_usage
  FROM used
  SEMI JOIN several USING (run)
  GROUP BY used.run
),

last_calls AS (
  SELECT
    run,
    arg_max(model_call, step_index) AS key
  FROM step_rows
  WHERE model_call IS NOT NULL
  GROUP BY run
),

finishes AS (
  SELECT
    last_calls.run,
    bucket_spans.finish_reasons
  FROM last_calls
  INNER JOIN bucket_spans ON last_calls.key = bucket_spans.key
),

-- Spans of one call are one step, no matter which of them an agent is below.
calling_steps AS (
  SELECT
    run_starts.key,
    min(step_rows.step_index) AS step_index
  FROM run_starts
  INNER JOIN operation_runs AS calling ON run_starts.caller = calling.key
  LEFT JOIN tool_ends ON run_starts.caller = tool_ends.key
  INNER JOIN calls
    ON
      if(run_starts.is_own_execution, run_starts.key, coalesce(tool_ends.last, run_starts.caller))
      = calls.execution
  INNER JOIN step_rows ON calls.call = step_rows.call AND calling.run = step_rows.run
  GROUP BY run_starts.key
),

-- OpenTelemetry's probability sampling: `th` is the rejected share of 2^56, without final zeros.
-- Narrow relations, and those of few runs, are joined before wide ones.
calling_runs AS (
  SELECT
    run_ids.run,
    callers.trajectory_id AS parent_trajectory_id,
    coalesce(calling_steps.step_index, -1) AS parent_step
  FROM run_ids
  INNER JOIN run_starts ON run_ids.root = run_starts.key
  INNER JOIN operation_runs AS calling ON run_starts.caller = calling.key
  INNER JOIN run_ids AS callers ON calling.run = callers.run
  LEFT JOIN calling_steps ON run_starts.key = calling_steps.key
  -- A call that malformed spans put into the run that it starts, started none.
  WHERE calling.run <> run_ids.run
),

roots AS (
  SELECT
    run_ids.run,
    operations.span_id,
    operations.start_ns,
    CASE WHEN operations.ended THEN operations.end_ns END AS end_ns,
    bucket_spans.failed AND NOT operations.paused AS failed,
    tells_limit(operations.error_type, operations.error_message) AS limited
  FROM run_ids
  INNER JOIN operations ON run_ids.root = operations.key
  INNER JOIN bucket_spans ON run_ids.root = bucket_spans.key
),

sampled AS (
  SELECT
    run,
    try_cast(
      '0x'
      || rpad(
        nullif(regexp_extract(trace_state, '\bot=[^,]*?\bth:([0-9a-f]{1,14})', 1), ''), 14, '0'
      )
      AS BIGINT
    ) AS rejected
  FROM gathered
)

SELECT
  run_ids.trajectory_id,
  calling_runs.parent_trajectory_id,
  calling_runs.parent_step,
  run_ids.trace_id,
  coalesce(roots.span_id, '0000000000000000') AS root_span_id,
  run_agent_names.agent_name,
  gathered.service_name,
  gathered.release,
  gathered.environment,
  gathered.conversation_id,
  gathered.task_id,
  gathered.task_category,
  gathered.trial,
  gathered.run_mode,
  coalesce(
    prompt_text(crew_task(gathered.user_input)),
    -- Input from the first steps of a run whose own span may never arrive.
    if(run_ids.root IS NULL, gathered.stated_input, NULL),
    model_counts.user_text
  ) AS user_input,
  coalesce(answers.root_answer, answers.span_answer, step_counts.last_answer) AS final_answer,
  gathered.outcome,
  CASE WHEN gathered.outcome IS NOT NULL THEN 'trace' END AS outcome_source,
  coalesce(step_counts.step_count, 0)::INTEGER AS step_count,
  coalesce(step_counts.tool_call_count, 0)::INTEGER AS tool_call_count,
  coalesce(step_counts.error_count, 0)::INTEGER AS error_count,
  coalesce(model_counts.llm_call_count, 0)::INTEGER AS llm_call_count,
  model_counts.input_tokens::BIGINT AS input_tokens,
  model_counts.output_tokens::BIGINT AS output_tokens,
  -- Prices come later: see pricing.py.
  NULL::DOUBLE AS cost_usd,
  usages.model_usage,
  make_timestamp_ns(coalesce(roots.start_ns, gathered.start_ns))::TIMESTAMP AS start_time,
  make_timestamp_ns(if(roots.run IS NULL, gathered.end_ns, roots.end_ns))::TIMESTAMP AS end_time,
  (
    if(roots.run IS NULL, gathered.end_ns, roots.end_ns)
    -- A start of 0 was not sent.
    - nullif(coalesce(roots.start_ns, gathered.start_ns), 0)
  ) / 1e6 AS duration_ms,
  unfinished_runs.run IS NULL AS complete,
  run_offered_tools.offered_tools,
  gathered.dialects,
  coalesce(72057594037927936 / (72057594037927936 - sampled.rejected), 1.0)::DOUBLE
    AS sample_weight,
  roots.failed AS root_failed,
  interrupted_runs.run IS NOT NULL AS interrupted,
  -- A run that names its task, or has lost the spans above it, still is an agent's run.
  run_ids.root IS NULL
  AND (gathered.has_tools_alone OR (gathered.has_models_alone AND serving_runs.run IS NOT NULL))
  AND unfinished_runs.run IS NULL
  AND coalesce(gathered.task_id, gathered.kill_point) IS NULL AS is_fragment,
  finishes.finish_reasons,
  bucket_traces.records AS trace_records,
  bucket_traces.received_ns AS trace_received_ns,
  bucket_traces.imported,
  gathered.kill_point,
  if(marks.is_compacted, ['compacted'], [])
  || if(marks.is_elsewhere, ['content_elsewhere'], [])
  || if(gathered.dropped, ['dropped_attributes'], [])
  || if(roots.failed AND roots.limited, ['limit_reached'], [])
  || if(retrieving.run IS NULL, [], ['retrieval_steps'])
  || if(gathered.retried, ['retried'], [])
  || if(runs_stopped_for_tools.run IS NULL, [], ['stopped_for_tools'])
  || if(
    unrecorded_answers.run IS NOT NULL
    AND coalesce(answers.root_answer, answers.span_answer, step_counts.last_answer) IS NULL,
    ['unrecorded_answer'],
    []
  )
  || if(unrecorded_calls.run IS NULL, [], ['unrecorded_calls'])
  || if(unrecorded_thoughts.run IS NULL, [], ['unrecorded_thoughts']) AS flags,
  coalesce(open_calls.call_ids, []) AS open_calls,
  coalesce(resumed_calls.call_ids, []) AS resumed_calls,
  coalesce(step_counts.turn_count, 1)::INTEGER AS turn_count,
  run_labels.labels,
  -- Dimensions are read from the labels later: see labeling.py.
  NULL::MAP (VARCHAR, VARCHAR) AS dimensions,
  bucket_traces.date
FROM run_ids
INNER JOIN bucket_traces USING (trace_id)
INNER JOIN gathered USING (run)
INNER JOIN sampled USING (run)
LEFT JOIN run_agent_names USING (run)
LEFT JOIN step_counts USING (trajectory_id)
LEFT JOIN model_counts USING (run)
LEFT JOIN usages USING (run)
LEFT JOIN answers USING (run)
LEFT JOIN run_offered_tools USING (run)
LEFT JOIN finishes USING (run)
LEFT JOIN roots USING (run)
LEFT JOIN unfinished_runs USING (run)
LEFT JOIN interrupted_runs USING (run)
LEFT JOIN serving_runs USING (run)
LEFT JOIN unrecorded_answers USING (run)
LEFT JOIN unrecorded_calls USING (run)
LEFT JOIN unrecorded_thoughts USING (run)
LEFT JOIN calling_runs USING (run)
LEFT JOIN runs_stopped_for_tools USING (run)
LEFT JOIN open_calls USING (run)
LEFT JOIN resumed_calls USING (run)
LEFT JOIN marks USING (run)
LEFT JOIN retrieving USING (run)
LEFT JOIN run_labels USING (run)
-- A lone workflow span, without anything below it, is not a run of an agent.
WHERE
  step_counts.step_count > 0
  OR model_counts.llm_call_count > 0
  OR (
    run_agent_names.agent_name IS NOT NULL
    AND NOT (gathered.is_alone AND coalesce(marks.is_workflow, FALSE))
  )
ORDER BY run_ids.position;
