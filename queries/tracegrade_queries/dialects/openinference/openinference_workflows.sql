-- Names of agents in LlamaIndex workflows, from the steps of the workflow.
--
-- The agent of a workflow is the first that it sets up.
--
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW openinference_workflows AS
WITH steps AS MATERIALIZED (
  SELECT
    trace_id,
    span_id,
    parent_span_id,
    start_ns,
    regexp_extract(
      attributes['input.value'], '(?s)^.*\bcurrent_agent_name=\x27([^\x27]+)\x27', 1
    ) AS agent_name
  FROM bucket_spans
  WHERE
    scope_name = 'openinference.instrumentation.llama_index'
    AND regexp_matches(name, '\.(setup_agent|run_agent_step)$')
)

SELECT
  agents.key,
  arg_min(steps.agent_name, steps.start_ns) AS agent_name
FROM steps
INNER JOIN bucket_spans AS agents
  ON steps.trace_id = agents.trace_id AND steps.parent_span_id = agents.span_id
WHERE steps.agent_name <> ''
GROUP BY agents.key
UNION ALL
SELECT
  models.key,
  any_value(steps.agent_name) AS agent_name
FROM steps
INNER JOIN bucket_spans AS models
  ON steps.trace_id = models.trace_id AND steps.span_id = models.parent_span_id
WHERE steps.agent_name <> ''
GROUP BY models.key;
