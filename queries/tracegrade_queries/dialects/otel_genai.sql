-- OpenTelemetry GenAI conventions, as written since 1.37: messages as JSON attributes of the span,
-- or of an event of it. MCP's conventions are part of them: a call of a tool that only its method
-- names may be known only from the tool's name in the span's name. What clients add to them under
-- names of their own (Anthropic's, Strands', Semantic Kernel's) is read here too.
--
-- Rank:
--   60
-- Marks:
--   ^(gen_ai|mcp)\.
--   ^agent_framework$
-- Reads:
--   bucket_events
--   bucket_spans
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

CREATE OR REPLACE TEMP TABLE otel_genai_lists AS
WITH details AS (
  SELECT
    key,
    max(attributes['gen_ai.input.messages']) AS input_messages,
    max(attributes['gen_ai.output.messages']) AS output_messages
  FROM bucket_events
  WHERE name = 'gen_ai.client.inference.operation.details'
  GROUP BY key
),

told AS (
  SELECT
    bucket_spans.key,
    bucket_spans.scope_name,
    coalesce(bucket_spans.attributes['gen_ai.input.messages'], details.input_messages) AS heard,
    coalesce(bucket_spans.attributes['gen_ai.output.messages'], details.output_messages) AS said
  FROM bucket_spans
  LEFT JOIN details USING (key)
),

lists AS (
  SELECT
    key,
    scope_name,
    'in' AS direction,
    heard AS messages
  FROM told
  UNION ALL
  SELECT
    key,
    scope_name,
    'out' AS direction,
    said AS messages
  FROM told
)

SELECT
  *,
  contains(messages, '"parts"') AS has_parts
FROM lists
WHERE messages IS NOT NULL;

-- Messages without parts are as a provider writes them.
CREATE OR REPLACE TEMP VIEW otel_genai_plain AS
SELECT
  key,
  direction,
  0 AS position,
  if(direction = 'in', 'user', 'assistant') AS role,
  messages AS text
FROM otel_genai_lists
WHERE NOT has_parts;

CREATE OR REPLACE TEMP TABLE otel_genai_plain_chat AS
FROM held_chat('otel_genai_plain');

CREATE OR REPLACE TEMP TABLE otel_genai_messages AS
WITH parsed AS (
  SELECT
    key,
    scope_name,
    direction,
    json_transform(
      try_cast(messages AS JSON),
      '[{"role": "VARCHAR", "finish_reason": "VARCHAR",
        "parts": [{"type": "VARCHAR", "content": "JSON",
        "id": "VARCHAR", "name": "VARCHAR", "arguments": "JSON", "response": "JSON",
        "result": "JSON"}]}]'
    ) AS messages
  FROM otel_genai_lists
  WHERE has_parts
),

-- Google ADK writes the pieces of a stream before the whole of it; only the whole has a reason for
-- its end.
whole AS (
  SELECT
    key,
    scope_name,
    direction,
    CASE
      WHEN coalesce(messages[-1].finish_reason, '') <> ''
        THEN list_filter(messages, LAMBDA message: message.finish_reason IS DISTINCT FROM '')
      ELSE messages
    END AS messages
  FROM parsed
),

messages AS (
  SELECT
    key,
    scope_name,
    direction,
    generate_subscripts(messages, 1) AS message_position,
    unnest(messages) AS message
  FROM whole
),

parts AS (
  SELECT
    key,
    scope_name,
    direction,
    message_position,
    message.role,
    unnest(message.parts) AS part,
    generate_subscripts(message.parts, 1) AS part_position,
    len(message.parts) AS part_count
  FROM messages
  WHERE len(message.parts) > 0
),

-- Gemini's calls and responses mostly have no ids. This one makes some up, of the tool's name and
-- the part's place in its message: a call and its response differ, what differs may be the same.
counted AS (
  SELECT DISTINCT
    key,
    part.name AS tool_name
  FROM parts
  WHERE
    scope_name = 'opentelemetry.instrumentation.google_genai'
    AND regexp_matches(part.id, '_\d+$')
    AND starts_with(part.id, part.name || '_')
),

-- openai-agents-v2 writes what a model said as Python prints it: of the items of a response that
-- can be read, of a whole message it cannot.
readings AS (
  SELECT
    parts.*,
    counted.tool_name AS counted_tool,
    CASE
      WHEN
        parts.part.type = 'text'
        AND parts.direction = 'out'
        AND parts.scope_name = 'opentelemetry.instrumentation.openai_agents'
        THEN
          regexp_extract(
            parts.part.content ->> '$',
            '^(?:ResponseReasoningItem\(.*?Summary\(text=[\x27"](.*?)[\x27"], type='
            '|ResponseFunctionToolCall\(arguments=[\x27"](.*?)[\x27"], '
            'call_id=\x27([^\x27]*)\x27, name=\x27([^\x27]*)\x27'
            '|(Response\w+\(|\{\x27\w+\x27: ))',
            ['thought', 'arguments', 'call_id', 'tool_name', 'rest']
          )
    END AS printed
  FROM parts
  LEFT JOIN counted
    ON
      parts.key = counted.key
      AND counted.tool_name = regexp_extract(parts.part.id, '^(.*)_\d+$', 1)
)

SELECT
  key,
  direction,
  message_position,
  -- This one writes calls before the text; in Chat Completions, where both are fields, text leads.
  -- Where reasoning is one too, some write it last, but nothing is said without a cause.
  CASE
    WHEN
      part.type = 'tool_call'
      AND scope_name = 'opentelemetry.instrumentation.genai.openai'
      THEN position_gap() + part_position
    WHEN part.type IN ('reasoning', 'thinking', 'reasoningContent') AND part_position = part_count
      THEN 0
    ELSE part_position
  END AS part_position,
  role,
  CASE
    WHEN part.type IN ('thinking', 'reasoningContent') OR printed.thought <> '' THEN 'reasoning'
    WHEN printed.tool_name <> '' THEN 'tool_call'
    WHEN printed.rest <> '' THEN 'unreadable'
    ELSE part.type
  END AS part_type,
  coalesce(
    nullif(printed.thought, ''),
    part.content ->> '$.reasoningText.text',
    part.content ->> '$'
  ) AS text,
  coalesce(part.name, counted_tool, nullif(printed.tool_name, '')) AS tool_name,
  CASE WHEN counted_tool IS NULL THEN coalesce(part.id, nullif(printed.call_id, '')) END
    AS call_id,
  coalesce(part.arguments ->> '$', nullif(printed.arguments, '')) AS arguments,
  result_text(coalesce(part.response, part.result) ->> '$') AS result
FROM readings
UNION ALL BY NAME
SELECT
  key,
  direction,
  message_position,
  part_position,
  role,
  part_type,
  text,
  tool_name,
  call_id,
  arguments,
  result
FROM chat_parts('otel_genai_plain_chat');

CREATE OR REPLACE TEMP VIEW otel_genai_operations AS
WITH answering AS (
  SELECT DISTINCT key
  FROM otel_genai_messages
  WHERE direction = 'out'
),

-- What events of a span add to it: the tools that a call was offered, and the error it ended in.
beside AS (
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

-- A span's name is of its start. Where other instrumentation suppresses the spans of model calls,
-- what they would say is written over the agent's, the last of them as a rule.
described AS (
  SELECT
    bucket_spans.*,
    starts_with(bucket_spans.name, 'invoke_agent ')
    AND bucket_spans.attributes['gen_ai.operation.name'] <> 'invoke_agent' AS is_overwritten,
    answering.key IS NOT NULL AS is_answering,
    spoken.user_input,
    spoken.answer,
    beside.offered_tools AS offers_beside,
    beside.error_type AS error_beside,
    beside.error_message
  FROM bucket_spans
  LEFT JOIN last_texts('otel_genai_messages') AS spoken USING (key)
  LEFT JOIN beside USING (key)
  LEFT JOIN answering USING (key)
  WHERE
    bucket_spans.attributes['gen_ai.operation.name'] IS NOT NULL
    OR bucket_spans.attributes['gen_ai.tool.name'] IS NOT NULL
    OR bucket_spans.attributes['mcp.method.name'] = 'tools/call'
    OR (bucket_spans.name = 'workflow.run' AND bucket_spans.scope_name = 'agent_framework')
    OR spoken.key IS NOT NULL
    OR answering.key IS NOT NULL
)

SELECT
  key,
  CASE
    WHEN is_overwritten THEN 'agent'
    -- Microsoft's Agent Framework: its agents at work together, an `invoke_workflow` but in name.
    WHEN name = 'workflow.run' THEN 'agent'
    -- Google ADK repeats the results of parallel calls as those of one more.
    WHEN attributes['gen_ai.tool.name'] = '(merged tools)' THEN 'other'
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
          -- Whatever it is called: a model is named, and what it said; of a tool, what it got.
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
                '^(create_agent|embeddings|rerank|retrieval|\w+_memory|\w+_memory_store)$'
              )
              THEN 'other'
          END
      END
  END AS operation,
  -- openai-agents-v2 writes the latter where no span names an agent.
  nullif(attributes['gen_ai.agent.name'], 'OpenAI Agent') AS agent_name,
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
    ELSE attributes['gen_ai.tool.call.arguments']
  END AS arguments,
  result_text(
    coalesce(
      attributes['gen_ai.tool.call.result'],
      attributes['anthropic.tool_result.content'],
      attributes['code.function.return.value']
    )
  ) AS result,
  user_input,
  CASE WHEN NOT coalesce(is_overwritten, FALSE) THEN answer END AS answer,
  failed
  OR attributes['error.type'] IS NOT NULL
  OR error_beside IS NOT NULL
  OR coalesce(
    coalesce(attributes['gen_ai.tool.status'], attributes['tool.status']) = 'error', FALSE
  )
    AS failed,
  coalesce(attributes['error.type'], error_beside) AS error_type,
  error_message,
  coalesce(attributes['gen_ai.response.model'], attributes['gen_ai.request.model']) AS model,
  try_cast(
    coalesce(
      attributes['gen_ai.usage.input_tokens'], attributes['gen_ai.usage.prompt_tokens']
    ) AS BIGINT
  ) AS input_tokens,
  try_cast(
    coalesce(
      attributes['gen_ai.usage.output_tokens'], attributes['gen_ai.usage.completion_tokens']
    ) AS BIGINT
  ) AS output_tokens,
  try_cast(
    coalesce(
      attributes['gen_ai.usage.cache_read.input_tokens'],
      attributes['gen_ai.usage.cache_read_input_tokens'],
      attributes['gen_ai.usage.details.cache_read_tokens']
    ) AS BIGINT
  ) AS cache_read_tokens,
  try_cast(
    coalesce(
      attributes['gen_ai.usage.reasoning.output_tokens'],
      attributes['gen_ai.usage.reasoning_tokens'],
      attributes['gen_ai.usage.details.reasoning_tokens']
    ) AS BIGINT
  ) AS reasoning_tokens,
  try_cast(
    coalesce(
      attributes['gen_ai.usage.cache_write.input_tokens'],
      attributes['gen_ai.usage.cache_creation.input_tokens'],
      attributes['gen_ai.usage.cache_creation_input_tokens'],
      attributes['gen_ai.usage.cache_write_input_tokens']
    ) AS BIGINT
  ) AS cache_write_tokens,
  -- Not of the conventions: the first is ours, of imports; the second is Pydantic's.
  try_cast(
    coalesce(attributes['gen_ai.usage.cost'], attributes['operation.cost']) AS DOUBLE
  ) AS stated_usd,
  coalesce(
    attributes['gen_ai.tool.definitions'],
    offers_beside,
    attributes['gen_ai.agent.tools'],
    to_json(string_split(attributes['sk.available_functions'], ','))::VARCHAR
  ) AS offered_tools,
  coalesce(attributes['gen_ai.conversation.id'], attributes['session.id']) AS conversation_id,
  -- Of a tool's arguments and result it does not say which.
  CASE
    WHEN coalesce(attributes['anthropic.content.truncated'], '') <> 'true' THEN []
    WHEN attributes['anthropic.tool_result.content'] IS NULL THEN ['truncated']
    ELSE ['truncated', 'result_truncated']
  END AS flags
FROM described;
