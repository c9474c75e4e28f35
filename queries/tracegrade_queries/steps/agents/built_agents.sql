-- The agents of traces with several, as the table `agents` declares them.
--
-- Reads:
--   agent_model_calls
--   agent_parents
--   agent_rows
--   built_steps
--   built_trajectories
--   step_agents
--   step_rows
-- Columns:
--   as the table agents
-- Order:
--   trajectory_id, agent_span_id
WITH agent_steps AS (
  SELECT
    coalesce(step_agents.agent, step_rows.run) AS agent,
    step_rows.step_index
  FROM step_rows
  LEFT JOIN step_agents USING (run, step_index)
  WHERE step_rows.run IN (SELECT agent_rows.run FROM agent_rows)
),

counts AS (
  SELECT
    agent_steps.agent,
    count(*) AS step_count,
    list(agent_steps.step_index ORDER BY agent_steps.step_index) AS step_indexes,
    count(*) FILTER (WHERE built_steps.kind = 'tool_call') AS tool_call_count,
    count(*) FILTER (WHERE built_steps.status IN ('error', 'not_executed')) AS error_count
  FROM agent_steps
  INNER JOIN agent_rows USING (agent)
  INNER JOIN built_steps
    ON
      agent_rows.trajectory_id = built_steps.trajectory_id
      AND agent_steps.step_index = built_steps.step_index
  GROUP BY agent_steps.agent
),

model_counts AS (
  SELECT
    agent,
    count(*) AS llm_call_count,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    list(
      {
        'start_time': make_timestamp_ns(start_ns)::TIMESTAMP,
        'end_time': make_timestamp_ns(end_ns)::TIMESTAMP
      }
      ORDER BY start_ns, end_ns, model_call
    ) AS model_calls
  FROM agent_model_calls
  GROUP BY agent
),

-- Calls with the same known facts, so that each sum is complete: as in run_token_usage.
used AS (
  SELECT
    agent,
    {
      'model': model,
      'calls': count(*),
      'fresh_input_tokens': if(counted, sum(fresh_input_tokens)::BIGINT, NULL),
      'cache_read_tokens': if(counted, sum(cache_read_tokens)::BIGINT, NULL),
      'cache_write_tokens': if(counted, sum(cache_write_tokens)::BIGINT, NULL),
      'visible_output_tokens': if(counted, sum(visible_output_tokens)::BIGINT, NULL),
      'reasoning_tokens': if(counted, sum(reasoning_tokens)::BIGINT, NULL),
      'stated_usd': sum(stated) / 1e12
    } AS model_usage
  FROM agent_model_calls
  GROUP BY agent, model, counted, stated IS NOT NULL
),

usages AS (
  SELECT
    agent,
    list(
      model_usage
      ORDER BY
        model_usage.model ASC NULLS LAST,
        model_usage.fresh_input_tokens IS NULL ASC,
        model_usage.stated_usd IS NULL ASC
    ) AS model_usage
  FROM used
  GROUP BY agent
)

SELECT
  agent_rows.trajectory_id,
  agent_rows.agent_span_id,
  agent_rows.has_span,
  agent_rows.agent_name,
  agent_parents.parent_trajectory_id,
  parents.agent_span_id AS parent_agent_span_id,
  agent_parents.tool_call_id,
  agent_rows.start_time,
  agent_rows.end_time,
  agent_rows.duration_ms,
  coalesce(counts.step_count, 0)::INTEGER AS step_count,
  coalesce(counts.step_indexes, []) AS step_indexes,
  coalesce(counts.tool_call_count, 0)::INTEGER AS tool_call_count,
  coalesce(counts.error_count, 0)::INTEGER AS error_count,
  coalesce(model_counts.llm_call_count, 0)::INTEGER AS llm_call_count,
  model_counts.input_tokens::BIGINT AS input_tokens,
  model_counts.output_tokens::BIGINT AS output_tokens,
  -- Prices come later: see pricing.py.
  NULL::DOUBLE AS cost_usd,
  usages.model_usage,
  coalesce(model_counts.model_calls, []) AS model_calls,
  trajectories.trace_id,
  trajectories.date
FROM agent_rows
INNER JOIN built_trajectories AS trajectories USING (trajectory_id)
LEFT JOIN agent_parents USING (agent)
LEFT JOIN agent_rows AS parents ON agent_parents.parent = parents.agent
LEFT JOIN counts ON agent_rows.agent = counts.agent
LEFT JOIN model_counts ON agent_rows.agent = model_counts.agent
LEFT JOIN usages ON agent_rows.agent = usages.agent
ORDER BY agent_rows.trajectory_id, agent_rows.agent_span_id;
