-- OpenTelemetry GenAI conventions since 1.37: messages are JSON attributes of spans or events.
--
-- MCP's conventions are part of them: if a tool call has only a method name, the tool's name may
-- be known only from the span's name. Attributes that clients add under names of their own
-- (Anthropic's, Strands', Semantic Kernel's, Axiom's, Sentry's, Latitude's, Rig's) are read here
-- too. LangChain4j counts tokens under plain names. Koog hides content behind a placeholder unless
-- it is asked for, and tells a plan on a span of its own.
--
-- Rank:
--   60
-- Marks:
--   ^(gen_ai|mcp)\.
--   ^agent_framework$
--   ^koog\.event\.id$
--   ^litellm$
-- Reads:
--   bucket_events
--   bucket_spans
--   otel_genai_messages
-- Order:
--   none
-- Google's instrumentation told arguments one by one as `code.function.parameters.X.value`, first
-- in attributes of the span, then in one that holds those in JSON. NULL if there are none.
CREATE OR REPLACE TEMP MACRO named_parameters(ATTRIBUTES) AS
nullif(
  to_json(
    map_from_entries(
      list_transform(
        list_filter(
          map_entries(attributes),
          LAMBDA entry: regexp_matches(entry.key, '^code\.function\.parameters\..+\.value$')
        ),
        LAMBDA entry: {
          'key': regexp_extract(entry.key, '^code\.function\.parameters\.(.+)\.value$', 1),
          'value': if(
            attributes[regexp_replace(entry.key, 'value$', 'type')] = 'str',
            to_json(entry.value),
            coalesce(try_cast(entry.value AS JSON), to_json(entry.value))
          )
        }
      )
    )
  )::VARCHAR,
  '{}'
);

-- Koog's plan: JSON, a list in words, or else the whole text as its one item.
CREATE OR REPLACE TEMP MACRO koog_plan(MADE) AS
CASE
  WHEN made IS NOT NULL
    THEN coalesce(plan_in(made), plan_in_text(made), to_json([made])::VARCHAR)
END;

CREATE OR REPLACE TEMP VIEW otel_genai_operations AS
WITH answering AS (
  SELECT DISTINCT key
  FROM otel_genai_messages
  WHERE direction = 'out'
),

-- Details from a span's events: the offered tools, and the error that ended it.
details AS (
  SELECT
    key,
    max(attributes['gen_ai.tool.definitions']) AS offered_tools,
    arg_max(attributes['exception.type'], position) AS error_type,
    arg_max(attributes['exception.message'], position) AS error_message
  FROM bucket_events
  WHERE
    name IN (
      'gen_ai.client.inference.operation.details', 'gen_ai.client.operation.exception',
      'gen_ai.execute_tool.exception'
    )
  GROUP BY key
),

-- A span's name is set at its start. If other instrumentation suppresses the spans of model calls,
-- their attributes overwrite those of the agent's span; usually the last call's remain.
described AS (
  SELECT
    bucket_spans.*,
    starts_with(bucket_spans.name, 'invoke_agent ')
    AND bucket_spans.attributes['gen_ai.operation.name'] <> 'invoke_agent' AS is_overwritten,
    answering.key IS NOT NULL AS is_answering,
    texts.user_input,
    texts.answer,
    details.offered_tools AS details_offered_tools,
    details.error_type AS details_error_type,
    details.error_message
  FROM bucket_spans
  LEFT JOIN last_texts('otel_genai_messages') AS texts USING (key)
  LEFT JOIN details USING (key)
  LEFT JOIN answering USING (key)
  WHERE
    bucket_spans.attributes['gen_ai.operation.name'] IS NOT NULL
    OR bucket_spans.attributes['gen_ai.tool.name'] IS NOT NULL
    OR bucket_spans.attributes['mcp.method.name'] = 'tools/call'
    OR (bucket_spans.name = 'workflow.run' AND bucket_spans.scope_name = 'agent_framework')
    OR bucket_spans.attributes['koog.event.id'] IS NOT NULL
    OR (bucket_spans.name = 'raw_gen_ai_request' AND bucket_spans.scope_name = 'litellm')
    OR texts.key IS NOT NULL
    OR answering.key IS NOT NULL
)

SELECT
  key,
  CASE
    WHEN is_overwritten THEN 'agent'
    -- Microsoft Foundry's client: a request for one response of an agent, whose tools the program
    -- runs before the next request.
    WHEN
      attributes['gen_ai.operation.name'] = 'invoke_agent'
      AND attributes['gen_ai.provider.name'] = 'microsoft.foundry'
      AND attributes['az.namespace'] IS NOT NULL
      THEN 'model'
    -- LiteLLM's request to a provider. If another span is open, what was said overwrites the
    -- attributes of that one, and usually the last request's remains.
    WHEN name = 'raw_gen_ai_request' AND scope_name = 'litellm' THEN 'model'
    -- Gemini CLI's own dialect reads which of them are steps.
    WHEN scope_name IN ('gemini-cli', 'gemini_cli.records') THEN 'other'
    -- Microsoft's Agent Framework: several agents working together, under another name than
    -- `invoke_workflow`.
    WHEN name = 'workflow.run' THEN 'agent'
    -- LiveKit's conversation since 1.8: each turn below it is a run.
    WHEN
      name = 'agent_session' AND attributes['gen_ai.operation.name'] = 'invoke_workflow'
      THEN 'other'
    WHEN attributes['koog.planner.plan.output'] IS NOT NULL THEN 'plan'
    -- Nodes and strategies of Koog.
    WHEN
      attributes['koog.event.id'] IS NOT NULL AND attributes['gen_ai.operation.name'] IS NULL
      THEN 'other'
    -- An MCP server ran this for a client that sent no trace context. The agent is unknown; if it
    -- is traced at all, its own spans record the call.
    WHEN attributes['mcp.method.name'] = 'tools/call' AND parent_span_id IS NULL THEN 'other'
    -- Google ADK repeats the results of parallel calls as those of one more.
    WHEN attributes['gen_ai.tool.name'] = '(merged tools)' THEN 'other'
    -- A task of CrewAI's, by OpenLLMetry.
    WHEN
      attributes['traceloop.span.kind'] = 'task'
      AND attributes['gen_ai.operation.name'] = 'invoke_agent'
      THEN 'other'
    -- CrewAI records a failure twice, and also calls of tools that do not exist.
    WHEN
      attributes['crewai.event_name'] = 'tool_failure_detected'
      OR attributes['crewai.tool.failure.reason'] = 'unknown_tool'
      THEN 'other'
    -- Logfire's request of a stream: another span at the end of the stream holds the response.
    WHEN
      scope_name IN ('logfire.openai', 'logfire.anthropic')
      AND attributes['logfire.span_type'] = 'span'
      AND attributes['gen_ai.usage.input_tokens'] IS NULL
      AND attributes['response_data'] IS NULL
      AND NOT is_answering
      AND NOT failed
      THEN 'other'
    ELSE
      CASE coalesce(attributes['gen_ai.operation.name'], attributes['mcp.method.name'])
        WHEN 'invoke_workflow' THEN 'agent'
        WHEN 'invoke_agent' THEN 'agent'
        WHEN 'chat' THEN 'model'
        WHEN 'generate_content' THEN 'model'
        WHEN 'text_completion' THEN 'model'
        WHEN 'execute_tool' THEN 'tool'
        WHEN 'tools/call' THEN 'tool'
        WHEN 'plan' THEN 'plan'
        WHEN 'handoff' THEN 'handoff'
        WHEN 'evaluation' THEN 'evaluator'
        ELSE
          -- Independent of its name: a span with a model and its output, or with a tool's
          -- arguments.
          CASE
            WHEN
              attributes['gen_ai.tool.name'] IS NOT NULL
              AND (
                coalesce(
                  attributes['gen_ai.operation.name'], attributes['mcp.method.name']
                ) IS NULL
                OR attributes['gen_ai.tool.call.arguments'] IS NOT NULL
                OR attributes['gen_ai.tool.call.result'] IS NOT NULL
              )
              THEN 'tool'
            WHEN
              is_answering
              AND coalesce(attributes['gen_ai.request.model'], attributes['gen_ai.response.model'])
              IS NOT NULL
              THEN 'model'
            WHEN
              regexp_matches(
                attributes['gen_ai.operation.name'],
                '^(create_agent|execute_task|embeddings|rerank|retrieval|\w+_memory(_store)?)$'
              )
              THEN 'other'
          END
      END
  END AS operation,
  -- CrewAI's name is a digest, and its role is the name. openai-agents-v2 writes the last value if
  -- no span names an agent. On a model call of Copilot Chat it is the purpose of the call.
  CASE
    WHEN attributes['copilot_chat.request.max_prompt_tokens'] IS NULL
      THEN
        coalesce(
          attributes['crewai.agent.role'],
          nullif(attributes['gen_ai.agent.name'], 'OpenAI Agent')
        )
  END AS agent_name,
  -- Copilot CLI names only its sub-agents. Koog's agents have ids, which programs may choose.
  CASE
    WHEN scope_name = 'github.copilot' AND attributes['gen_ai.operation.name'] = 'invoke_agent'
      THEN 'GitHub Copilot'
    WHEN
      attributes['koog.event.id'] IS NOT NULL
      AND NOT regexp_matches(attributes['gen_ai.agent.id'], '^[0-9a-f]{8}-[0-9a-f]{4}-')
      THEN attributes['gen_ai.agent.id']
    -- The name of a workflow before version 0.1 of the conventions; OpenAI Agents has a default.
    WHEN attributes['gen_ai.operation.name'] = 'invoke_workflow'
      THEN nullif(attributes['gen_ai.workflow.name'], 'Agent workflow')
  END AS agent_label,
  coalesce(
    attributes['gen_ai.tool.name'],
    CASE
      WHEN attributes['mcp.method.name'] = 'tools/call'
        THEN nullif(regexp_extract(name, 'tools/call (.+)$', 1), '')
    END
  ) AS tool_name,
  nullif(attributes['gen_ai.tool.call.id'], '<not specified>') AS call_id,
  CASE
    WHEN contains(attributes['gen_ai.tool.call.arguments'], '"code.function.parameters.')
      THEN named_parameters(
        from_json(
          try_cast(attributes['gen_ai.tool.call.arguments'] AS JSON), '"MAP(VARCHAR, VARCHAR)"'
        )
      )
    WHEN attributes['code.args.keyword.count'] IS NOT NULL THEN named_parameters(attributes)
    ELSE
      coalesce(
        nullif(attributes['gen_ai.tool.call.arguments'], 'HIDDEN:non-empty'),
        attributes['gen_ai.tool.arguments'],
        attributes['gen_ai.tool.input']
      )
  END AS arguments,
  result_text(
    coalesce(
      nullif(attributes['gen_ai.tool.call.result'], 'HIDDEN:non-empty'),
      attributes['anthropic.tool_result.content'],
      attributes['code.function.return.value'],
      attributes['gen_ai.tool.call.result.value'],
      attributes['gen_ai.tool.message'],
      attributes['gen_ai.tool.output']
    )
  ) AS result,
  -- smolagents requests a plan like an answer, with this stop sequence.
  CASE
    WHEN contains(attributes['gen_ai.request.stop_sequences'], '"<end_plan>"') THEN answer
    ELSE koog_plan(nullif(attributes['koog.planner.plan.output'], 'HIDDEN:non-empty'))
  END AS plan,
  -- A crew of CrewAI's that was given no inputs got `null`.
  CASE
    WHEN scope_name = 'opentelemetry.instrumentation.genai.dspy' THEN dspy_input(user_input)
    WHEN coalesce(attributes['crewai.crew.inputs'], '') <> 'null' THEN user_input
  END AS user_input,
  CASE WHEN NOT coalesce(is_overwritten, FALSE) THEN answer END AS answer,
  failed
  OR attributes['error.type'] IS NOT NULL
  OR details_error_type IS NOT NULL
  OR coalesce(is_marked_failed(attributes['gen_ai.tool.call.result']), FALSE)
  OR coalesce(attributes['gen_ai.tool.call.result.is_error'] = 'true', FALSE)
  OR coalesce(attributes['gen_ai.tool.call.outcome'] = 'error', FALSE)
  OR coalesce(
    coalesce(attributes['gen_ai.tool.status'], attributes['tool.status']) = 'error', FALSE
  )
    AS failed,
  coalesce(attributes['error.type'], details_error_type, attributes['gen_ai.tool.error.type'])
    AS error_type,
  error_message,
  -- Micrometer writes `none` for a value that is not known.
  coalesce(
    nullif(attributes['gen_ai.response.model'], 'none'),
    nullif(attributes['gen_ai.request.model'], 'none')
  ) AS model,
  try_cast(
    coalesce(
      attributes['gen_ai.usage.input_tokens'],
      attributes['gen_ai.usage.prompt_tokens'],
      attributes['input_tokens']
    ) AS BIGINT
  ) AS input_tokens,
  -- Google does not count thoughts as output; some clients include them only in the total.
  coalesce(
    CASE
      WHEN
        starts_with(attributes['gen_ai.provider.name'], 'gcp.')
        AND attributes['gen_ai.usage.reasoning.output_tokens'] IS NULL
        AND attributes['gen_ai.usage.output_tokens'] IS NOT NULL
        THEN
          try_cast(attributes['gen_ai.usage.total_tokens'] AS BIGINT)
          - try_cast(attributes['gen_ai.usage.input_tokens'] AS BIGINT)
    END,
    try_cast(
      coalesce(
        attributes['gen_ai.usage.output_tokens'],
        attributes['gen_ai.usage.completion_tokens'],
        attributes['output_tokens']
      ) AS BIGINT
    )
  ) AS output_tokens,
  try_cast(
    coalesce(
      attributes['gen_ai.usage.cache_read.input_tokens'],
      attributes['gen_ai.usage.cache_read_input_tokens'],
      attributes['gen_ai.usage.details.cache_read_tokens'],
      attributes['gen_ai.usage.cached_input_tokens'],
      attributes['gen_ai.usage.input_cached_tokens'],
      attributes['gen_ai.usage.cache_read_tokens'],
      attributes['gen_ai.usage.details.cached_tokens'],
      attributes['gen_ai.usage.details.cache_read_input_tokens'],
      attributes['gen_ai.usage.prompt_tokens_details.cached_tokens'],
      attributes['gen_ai.usage.input_tokens_details.cached_tokens'],
      attributes['gen_ai.usage.input_tokens.cached'],
      attributes['gen_ai.usage.cached_tokens'],
      attributes['gen_ai.usage.prompt_cache_hit_tokens'],
      attributes['gen_ai.usage.cached_content_token_count'],
      try_cast(attributes['gen_ai.usage.input_token_details'] AS JSON) ->> '$.cache_read'
    ) AS BIGINT
  ) AS cache_read_tokens,
  try_cast(
    coalesce(
      attributes['gen_ai.usage.reasoning.output_tokens'],
      attributes['gen_ai.usage.reasoning_tokens'],
      attributes['gen_ai.usage.details.reasoning_tokens'],
      attributes['gen_ai.usage.output_tokens_details.reasoning_tokens'],
      attributes['gen_ai.usage.completion_tokens_details.reasoning_tokens'],
      attributes['gen_ai.usage.output_tokens.reasoning'],
      attributes['gen_ai.usage.output_reasoning_tokens'],
      attributes['gen_ai.usage.thoughts_token_count'],
      attributes['gen_ai.usage.experimental.reasoning_tokens'],
      try_cast(attributes['gen_ai.usage.output_token_details'] AS JSON) ->> '$.reasoning'
    ) AS BIGINT
  ) AS reasoning_tokens,
  try_cast(
    coalesce(
      attributes['gen_ai.usage.cache_write.input_tokens'],
      attributes['gen_ai.usage.cache_creation.input_tokens'],
      attributes['gen_ai.usage.cache_creation_input_tokens'],
      attributes['gen_ai.usage.cache_write_input_tokens'],
      attributes['gen_ai.usage.details.cache_write_tokens'],
      attributes['gen_ai.usage.details.cache_creation_input_tokens'],
      attributes['gen_ai.usage.cache_write_tokens'],
      attributes['gen_ai.usage.cache_creation_tokens'],
      attributes['gen_ai.usage.input_tokens.cache_write'],
      attributes['gen_ai.usage.prompt_tokens_details.cache_creation_tokens'],
      try_cast(attributes['gen_ai.usage.input_token_details'] AS JSON) ->> '$.cache_creation'
    ) AS BIGINT
  ) AS cache_write_tokens,
  try_cast(
    coalesce(attributes['gen_ai.usage.total_tokens'], attributes['llm.usage.total_tokens'])
    AS BIGINT
  ) AS total_tokens,
  CASE
    -- They pass on Anthropic's and Bedrock's input count, which does not include cached tokens.
    WHEN
      scope_name IN (
        'openlit.instrumentation.anthropic',
        'openlit.instrumentation.bedrock',
        'opentelemetry.instrumentation.bedrock'
      )
      THEN TRUE
    -- Strands has a total that shows it; Pydantic's and OpenLLMetry's counts are added up.
    WHEN
      scope_name IN ('strands.telemetry.tracer', 'pydantic-ai')
      OR starts_with(scope_name, 'opentelemetry.instrumentation.')
      THEN FALSE
    -- Under the names of the conventions or of OpenAI, the count is part of the input. Anthropic's
    -- names are used in both ways.
    WHEN
      attributes['gen_ai.usage.cache_read.input_tokens'] IS NULL
      AND attributes['gen_ai.usage.cache_creation.input_tokens'] IS NULL
      AND attributes['gen_ai.usage.cache_write.input_tokens'] IS NULL
      AND coalesce(
        attributes['gen_ai.usage.cache_read_input_tokens'],
        attributes['gen_ai.usage.cache_creation_input_tokens'],
        attributes['gen_ai.usage.cache_write_input_tokens'],
        attributes['gen_ai.usage.cache_read_tokens'],
        attributes['gen_ai.usage.cache_write_tokens'],
        attributes['gen_ai.usage.cache_creation_tokens']
      ) IS NOT NULL
      AND coalesce(
        attributes['gen_ai.usage.cached_input_tokens'],
        attributes['gen_ai.usage.input_cached_tokens'],
        attributes['gen_ai.usage.prompt_tokens_details.cached_tokens'],
        attributes['gen_ai.usage.input_tokens_details.cached_tokens']
      ) IS NULL
      THEN NULL
    ELSE FALSE
  END AS excludes_cached,
  -- Not in the conventions: tracegrade's imports write the first, as gateways do; OpenRouter the
  -- second, LiteLLM the third, Pydantic AI the last.
  try_cast(
    coalesce(
      attributes['gen_ai.usage.cost'],
      attributes['gen_ai.usage.total_cost'],
      attributes['gen_ai.cost.total_cost'],
      attributes['operation.cost']
    ) AS DOUBLE
  ) AS stated_usd,
  coalesce(
    attributes['gen_ai.tool.definitions'],
    details_offered_tools,
    attributes['gen_ai.agent.tools'],
    to_json(string_split(attributes['sk.available_functions'], ','))::VARCHAR
  ) AS offered_tools,
  coalesce(attributes['gen_ai.conversation.id'], attributes['session.id']) AS conversation_id,
  -- It does not say whether a tool's arguments or its result were cut.
  CASE
    WHEN attributes['ag2.tool.call.result.truncated'] = 'true' THEN ['result_truncated']
    WHEN coalesce(attributes['anthropic.content.truncated'], '') <> 'true' THEN []
    WHEN attributes['anthropic.tool_result.content'] IS NULL THEN ['truncated']
    ELSE ['truncated', 'result_truncated']
  END AS flags
FROM described;
