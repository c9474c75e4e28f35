-- OpenInference: lists are flattened into indexed keys; openinference.span.kind tells the kind.
--
-- Indices may have holes, since exporters evict the oldest attributes, so each key is read by
-- itself. Spans of one shape have the same keys, whose paths are split once.
--
-- Rank:
--   20
-- Marks:
--   ^openinference\.
-- Reads:
--   openinference_haystack_agents
--   openinference_kinds
--   openinference_messages
--   openinference_offers
--   openinference_workflows
-- Order:
--   none
-- `tool.parameters` where it holds arguments, as programs write it by hand; NULL where it is the
-- description of parameters that instrumentations write.
CREATE OR REPLACE TEMP MACRO given_parameters(PARAMETERS) AS
CASE
  WHEN
    json_type(parameters) = 'OBJECT'
    AND NOT json_exists(parameters, '$.properties')
    AND len(
      list_filter(
        json_extract(parameters, '$.*'), LAMBDA given: json_exists(given, '$.type')
      )
    ) = 0
    THEN parameters::VARCHAR
END;

CREATE OR REPLACE TEMP VIEW openinference_operations AS
WITH spans AS (
  SELECT
    *,
    span_kind = 'LLM' OR tells_calls AS tells_models,
    CASE WHEN operation IN ('agent', 'tool') THEN try_cast(input_value AS JSON) END AS input,
    CASE WHEN operation IN ('agent', 'tool') THEN try_cast(output_value AS JSON) END AS output,
    CASE WHEN operation = 'tool' THEN try_cast(attribute(fields, 'tool.parameters') AS JSON) END
      AS parameters
  FROM openinference_kinds
),

asking_for_plans AS (
  SELECT DISTINCT key
  FROM openinference_messages
  WHERE
    direction = 'in'
    AND role IN ('user', 'system')
    AND part_type = 'text'
    AND contains(text, '<end_plan>')
    AND regexp_matches(text, 'write the \x27(\s|\\n)*<end_plan>\x27 tag and stop there')
),

-- Output that users hide is written as `__REDACTED__`, or left out.
hidden AS (
  SELECT DISTINCT
    key,
    TRUE AS is_hidden
  FROM openinference_messages
  WHERE direction = 'out' AND '__REDACTED__' IN (text, arguments)
),

-- smolagents asks for a plan with a prompt of its own, and no tools.
plans AS (
  SELECT
    key,
    arg_min(messages.text, (messages.message_position, messages.part_position)) AS plan
  FROM openinference_messages AS messages
  SEMI JOIN asking_for_plans USING (key)
  WHERE messages.direction = 'out' AND messages.part_type = 'text'
  GROUP BY key
),

described AS (
  SELECT
    spans.*,
    offers.offered_tools,
    texts.user_input AS user_text,
    plans.plan,
    hidden.is_hidden,
    workflows.agent_name AS workflow_agent,
    haystack_agents.called_as
  FROM spans
  LEFT JOIN openinference_offers AS offers USING (key)
  LEFT JOIN last_texts('openinference_messages') AS texts USING (key)
  LEFT JOIN plans USING (key)
  LEFT JOIN hidden USING (key)
  LEFT JOIN openinference_workflows AS workflows USING (key)
  LEFT JOIN openinference_haystack_agents AS haystack_agents USING (key)
)

SELECT
  key,
  operation,
  coalesce(
    attribute(fields, 'agent.name'),
    -- CrewAI's.
    attribute(fields, 'tool.agent_role'),
    workflow_agent,
    -- smolagents begins the task of a called agent with its name.
    CASE
      WHEN operation = 'agent' AND scope_name = 'openinference.instrumentation.smolagents'
        THEN nullif(
          regexp_extract(
            input ->> '$.task', '^You\x27re a helpful agent named \x27([^\x27]+)\x27', 1
          ),
          ''
        )
    END,
    CASE
      WHEN
        operation = 'agent'
        AND (name = lc_agent_name OR (in_graph AND span_kind = 'CHAIN' AND name <> 'LangGraph'))
        THEN name
      WHEN operation IN ('model', 'tool') THEN lc_agent_name
    END
  ) AS agent_name,
  CASE
    WHEN called_as IS NOT NULL THEN called_as
    WHEN scope_name = '@arizeai/openinference-instrumentation-beeai'
      THEN if(operation = 'agent', attribute(fields, 'source'), NULL)
    WHEN tells_calls THEN 'Claude Code'
    WHEN attribute(fields, 'langflow.flow_name') IS NOT NULL
      THEN attribute(fields, 'langflow.flow_name')
    WHEN attribute(fields, 'crew_key') IS NOT NULL AND span_kind = 'CHAIN' THEN NULL
    WHEN
      operation = 'agent' AND starts_with(scope_name, 'openinference.instrumentation.crewai')
      THEN coalesce(
        attribute(fields, 'graph.node.id'), regexp_replace(name, '\.(kickoff|_execute_core)$', '')
      )
    WHEN
      operation = 'agent'
      AND name NOT IN ('LangGraph', 'Agent workflow', 'Agent.run', coalesce(graph_node, ''))
      THEN regexp_replace(name, '\.(run|run_stream|kickoff|forward|_execute_core)$', '')
  END AS agent_label,
  CASE WHEN operation = 'agent' THEN attribute(fields, 'graph.node.parent_id') END AS follows,
  CASE
    WHEN operation IN ('tool', 'handoff')
      THEN
        coalesce(
          attribute(fields, 'tool.name'),
          called,
          attribute(fields, 'source'),
          regexp_replace(name, '\.__call__$', '')
        )
  END AS tool_name,
  CASE
    WHEN operation = 'tool'
      THEN
        coalesce(
          attribute(fields, 'tool.id'),
          attribute(fields, 'tool_call.id'),
          called_id,
          output ->> '$.data.tool_call_id',
          output ->> '$.output.kwargs.tool_call_id'
        )
  END AS call_id,
  CASE
    WHEN operation <> 'tool' THEN NULL
    -- Wrappers write the Python call: {"args": [], "kwargs": {…}}.
    WHEN
      json_array_length(input, '$.args') > 0
      AND json_type(input, '$.kwargs') = 'OBJECT'
      AND json_type(parameters) = 'OBJECT'
      THEN
        json_merge_patch(
          to_json(
            map_from_entries(
              list_zip(json_keys(parameters), (input -> '$.args')::JSON[], TRUE)
            )
          ),
          input -> '$.kwargs'
        )::VARCHAR
    -- BeeAI's tool inputs have options.
    WHEN json_keys(input) = ['input', 'options'] THEN input ->> '$.input'
    WHEN scope_name = '@arizeai/openinference-instrumentation-beeai' THEN parameters::VARCHAR
    WHEN
      json_type(input, '$.kwargs') = 'OBJECT'
      AND (json_keys(input) = ['kwargs'] OR json_type(input, '$.args') = 'ARRAY')
      THEN (input -> '$.kwargs')::VARCHAR
    -- The others are not in the conventions, and programs write them by hand.
    ELSE
      coalesce(input_value, attribute(fields, 'tool.arguments'), given_parameters(parameters))
  END AS arguments,
  CASE
    WHEN operation <> 'tool' THEN NULL
    -- For Claude's Agent SDK, the status holds the text that the model received.
    WHEN failed AND scope_name = 'openinference.instrumentation.claude_agent_sdk'
      THEN coalesce(output_value, status_message)
    WHEN json_type(output, '$.data.content') IS NOT NULL THEN output ->> '$.data.content'
    -- LangChain in JavaScript.
    WHEN json_type(output, '$.output.kwargs.content') IS NOT NULL
      THEN result_text(output ->> '$.output.kwargs.content')
    WHEN json_type(output, '$.blocks') = 'ARRAY'
      THEN array_to_string(output ->> '$.blocks[*].text', chr(10))
    WHEN json_keys(output) = ['id', 'name', 'response'] THEN output ->> '$.response'
    -- BeeAI: the tool that answers returns a fixed text.
    WHEN
      output_value = 'Message has been sent' AND attribute(fields, 'tool.name') = 'final_answer'
      THEN input ->> '$.input.response'
    WHEN scope_name = '@arizeai/openinference-instrumentation-beeai'
      THEN
        if(
          called = 'final_answer',
          parameters ->> '$.response',
          coalesce(output ->> '$.result', output_value, status_message)
        )
    ELSE result_text(coalesce(output_value, attribute(fields, 'tool.output')))
  END AS result,
  CASE
    WHEN span_kind = 'LLM' THEN user_text
    -- Spans converted to this form keep their own attributes, which have a message's parts.
    WHEN
      operation = 'agent'
      AND coalesce(
        attribute(fields, 'gen_ai.input.messages'), attribute(fields, 'pydantic_ai.all_messages')
      ) IS NOT NULL
      THEN NULL
    WHEN operation = 'agent' AND input IS NULL
      THEN if(
        scope_name = 'openinference.instrumentation.agno', agno_input(input_value), input_value
      )
    WHEN operation = 'agent'
      THEN
        coalesce(
          input ->> '$.messages[#-1][1]',
          CASE
            WHEN json_type(input, '$.messages[#-1].content') = 'VARCHAR'
              THEN input ->> '$.messages[#-1].content'
            WHEN json_type(input, '$.messages[#-1].content') = 'ARRAY'
              THEN nullif(
                array_to_string(input ->> '$.messages[#-1].content[*].text', chr(10)), ''
              )
          END,
          CASE
            WHEN coalesce(attribute(fields, 'llm.input_messages.0.message.role'), '') <> 'system'
              THEN attribute(fields, 'llm.input_messages.0.message.content')
          END,
          input ->> '$.messages[#-1].content',
          input ->> '$.task',
          CASE WHEN json_type(input, '$.input') = 'VARCHAR' THEN input ->> '$.input' END,
          (input ->> '$.input_args.*')[1],
          CASE WHEN json_type(input) = 'VARCHAR' THEN input ->> '$' END
        )
    ELSE user_text
  END AS user_input,
  CASE
    WHEN operation <> 'agent' OR span_kind = 'LLM' THEN NULL
    -- LlamaIndex writes a cut Python text here.
    WHEN scope_name = 'openinference.instrumentation.llama_index' THEN NULL
    -- If a run failed, BeeAI writes the error here.
    WHEN failed AND scope_name = 'openinference.instrumentation.beeai' THEN NULL
    WHEN scope_name = '@arizeai/openinference-instrumentation-beeai' THEN output ->> '$.text'
    WHEN output IS NULL THEN output_value
    WHEN output ->> '$.messages[#-1].type' <> 'ai' THEN NULL
    WHEN json_type(output, '$.messages[#-1].data.content') = 'ARRAY'
      THEN array_to_string(output ->> '$.messages[#-1].data.content[*].text', '')
    WHEN output ->> '$.messages[#-1].type' = 'ai' THEN output ->> '$.messages[#-1].data.content'
    WHEN json_type(output, '$.raw') = 'VARCHAR' THEN output ->> '$.raw'
    WHEN json_type(output, '$.trajectory') = 'OBJECT' THEN output ->> '$.answer'
    WHEN json_type(output, '$.content.parts') = 'ARRAY'
      THEN output ->> '$.content.parts[#-1].text'
    WHEN json_type(output) = 'VARCHAR' THEN output ->> '$'
  END AS answer,
  failed
  OR coalesce(output ->> '$.data.status' = 'error' OR output ->> '$.is_error' = 'true', FALSE)
    AS failed,
  -- Its processor of the AI SDK's spans copies one span's error to the spans that end after it. On
  -- the span that failed, the SDK records the exception, or no message.
  scope_name IN ('ai', 'gen_ai') AND failed AND NOT excepted AND status_message IS NOT NULL
    AS inherits_status,
  CASE
    WHEN tells_models
      THEN
        coalesce(
          attribute(fields, 'llm.response.model_name'),
          attribute(fields, 'llm.model_name'),
          attribute(fields, 'llm.request.model_name')
        )
  END AS model,
  CASE WHEN tells_models THEN try_cast(attribute(fields, 'llm.token_count.prompt') AS BIGINT) END
    AS input_tokens,
  CASE
    WHEN tells_models THEN try_cast(attribute(fields, 'llm.token_count.completion') AS BIGINT)
  END
    AS output_tokens,
  CASE
    WHEN tells_models
      THEN try_cast(attribute(fields, 'llm.token_count.prompt_details.cache_read') AS BIGINT)
  END AS cache_read_tokens,
  CASE
    WHEN tells_models
      THEN try_cast(attribute(fields, 'llm.token_count.completion_details.reasoning') AS BIGINT)
  END AS reasoning_tokens,
  CASE
    WHEN tells_models
      THEN try_cast(attribute(fields, 'llm.token_count.prompt_details.cache_write') AS BIGINT)
  END AS cache_write_tokens,
  CASE WHEN tells_models THEN try_cast(attribute(fields, 'llm.token_count.total') AS BIGINT) END
    AS total_tokens,
  FALSE AS excludes_cached,
  CASE WHEN tells_models THEN try_cast(attribute(fields, 'llm.cost.total') AS DOUBLE) END
    AS stated_usd,
  coalesce(
    offered_tools,
    attribute(fields, 'smolagents.tools_names'),
    attribute(fields, 'llm.tools'),
    CASE
      WHEN
        operation = 'model'
        AND contains(attribute(fields, 'llm.invocation_parameters'), '"tools"')
        THEN try_cast(attribute(fields, 'llm.invocation_parameters') AS JSON) ->> '$.tools'
    END
  ) AS offered_tools,
  plan,
  tells_calls,
  coalesce(attribute(fields, 'session.id'), thread_id) AS conversation_id,
  CASE WHEN input_value = '__REDACTED__' THEN ['redacted'] ELSE [] END
  || CASE WHEN output_value = '__REDACTED__' THEN ['result_redacted'] ELSE [] END
  || CASE WHEN is_hidden THEN ['redacted'] ELSE [] END AS flags
FROM described;
