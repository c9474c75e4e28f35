-- The kind of each span; LangChain, LlamaIndex, DSPy, CrewAI and others each write it differently.
--
-- Reads:
--   bucket_spans
--   shapes
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW openinference_kinds AS
WITH spans AS (
  SELECT
    bucket_spans.*,
    without_later_items(bucket_spans.attributes, shapes.field_positions) AS fields
  FROM bucket_spans
  INNER JOIN shapes USING (shape)
),

marked AS (
  SELECT
    *,
    attribute(fields, 'openinference.span.kind') AS span_kind,
    attribute(fields, 'input.value') AS input_value,
    attribute(fields, 'output.value') AS output_value,
    json_extract_string(
      try_cast(attribute(fields, 'metadata') AS JSON),
      [
        '$.lc_agent_name', '$.langgraph_node', '$.ls_integration', '$.thread_id',
        '$.toolCallMsg.toolName', '$.toolCallMsg.toolCallId'
      ]
    ) AS metadata,
    metadata[1] AS lc_agent_name,
    metadata[2] AS graph_node,
    coalesce(metadata[3], '') IN ('deepagents', 'langchain_create_agent', 'langgraph') AS in_graph,
    metadata[4] AS thread_id,
    metadata[5] AS called,
    metadata[6] AS called_id
  FROM spans
  WHERE attribute(fields, 'openinference.span.kind') IS NOT NULL
)

-- For LangChain, AGENT is any span with "agent" in its name, even a tool or a node of a graph; an
-- agent with another name is a CHAIN. The metadata show which spans are whole agents and graphs.
SELECT
  key,
  name,
  scope_name,
  fields,
  failed,
  exception IS NOT NULL AS excepted,
  status_message,
  span_kind,
  input_value,
  output_value,
  lc_agent_name,
  graph_node,
  in_graph,
  thread_id,
  called,
  called_id,
  -- Claude's Agent SDK runs Claude Code, and receives the output of its model calls.
  span_kind = 'AGENT' AND scope_name = 'openinference.instrumentation.claude_agent_sdk'
    AS tells_calls,
  CASE
    -- LlamaIndex: this span calls no model.
    WHEN span_kind = 'LLM' AND name LIKE '%.\_prepare\_chat\_with\_tools' ESCAPE '\'
      THEN 'other'
    -- Langflow: the flow. Its components have kinds in small letters, and are not steps.
    WHEN attribute(fields, 'langflow.trace_type') IS NOT NULL THEN 'agent'
    -- Google ADK: the agent's span, whose attributes its model calls overwrite.
    WHEN span_kind = 'LLM' AND starts_with(name, 'invoke_agent ') THEN 'agent'
    -- Mastra writes each model call as several spans; its own attributes identify the call.
    WHEN span_kind = 'LLM' AND attribute(fields, 'mastra.span.type') IS NOT NULL THEN 'other'
    -- BeeAI: an event of the span above (a token, a retry, an error), whose kind it has.
    WHEN
      scope_name = 'openinference.instrumentation.beeai'
      AND (
        attribute(fields, 'metadata.path') IS NOT NULL
        OR (
          attribute(fields, 'metadata.class_name') IS NULL
          AND regexp_matches(
            name, '^(error|finish|new_token|(partial_)?update|retry|start|success)$'
          )
        )
      )
      THEN 'other'
    -- In JavaScript there are only events, named by their paths, and the whole run as
    -- `beeai-framework-main`.
    WHEN scope_name = '@arizeai/openinference-instrumentation-beeai'
      THEN
        CASE
          WHEN
            span_kind = 'LLM'
            AND regexp_matches(attribute(fields, 'target'), '\.chat\.(success|error)$')
            THEN 'model'
          WHEN regexp_matches(attribute(fields, 'target'), '^agent\..*\.tool(Success|Error)$')
            THEN 'tool'
          WHEN
            regexp_matches(attribute(fields, 'target'), '^tool\..*\.(success|error)$')
            AND called IS NOT NULL
            THEN 'tool'
          WHEN attribute(fields, 'target') IS NULL AND span_kind = 'AGENT' THEN 'agent'
          WHEN attribute(fields, 'target') IS NULL AND span_kind = 'TOOL' THEN 'tool'
          ELSE 'other'
        END
    WHEN span_kind = 'LLM' THEN 'model'
    WHEN span_kind = 'EVALUATOR' THEN 'evaluator'
    WHEN
      span_kind = 'CHAIN'
      AND scope_name = 'openinference.instrumentation.llama_index'
      AND regexp_matches(name, '^\w*(Agent|AgentWorkflow)\.run$')
      THEN 'agent'
    WHEN scope_name = 'openinference.instrumentation.haystack' AND name = 'Agent.run' THEN 'agent'
    -- DSPy: `finish` only ends the agent's loop.
    WHEN scope_name = 'openinference.instrumentation.dspy' AND name = 'finish.__call__'
      THEN 'other'
    WHEN
      scope_name = 'openinference.instrumentation.dspy'
      AND span_kind = 'CHAIN'
      AND name LIKE 'ReAct%.forward'
      THEN 'agent'
    -- A crew of CrewAI's and a team of AutoGen's: their agents' work is one run.
    WHEN
      span_kind = 'CHAIN'
      AND (attribute(fields, 'crew_key') IS NOT NULL OR attribute(fields, 'team_id') IS NOT NULL)
      THEN 'agent'
    WHEN span_kind = 'TOOL' AND attribute(fields, 'tool.name') IS NULL AND name LIKE 'handoff to %'
      THEN 'handoff'
    WHEN span_kind = 'TOOL' THEN 'tool'
    WHEN span_kind = 'AGENT' AND attribute(fields, 'tool.name') IS NOT NULL THEN 'tool'
    WHEN name = lc_agent_name AND span_kind IN ('AGENT', 'CHAIN') THEN 'agent'
    WHEN span_kind = 'AGENT' AND name <> coalesce(graph_node, '') THEN 'agent'
    WHEN in_graph AND span_kind = 'CHAIN' AND (graph_node IS NULL OR name = 'LangGraph')
      THEN 'agent'
    ELSE 'other'
  END AS operation
FROM marked;
