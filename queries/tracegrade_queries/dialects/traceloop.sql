-- OpenLLMetry (Traceloop): its own span kinds, and before 0.6x messages in indexed keys.
--
-- Spans of the current form hold their messages as the GenAI conventions define; this file reads
-- the rest. Indices may have holes, since exporters evict the oldest attributes.
--
-- Rank:
--   30
-- Marks:
--   ^traceloop\.
--   ^llm\.request\.type$
--   ^gen_ai\.(prompt|completion)\.
--   ^agentops\.
-- Reads:
--   bucket_spans
--   shapes
--   traceloop_offers
--   traceloop_requests
--   traceloop_turns
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE traceloop_llama_index AS
WITH chats AS MATERIALIZED (
  SELECT
    key,
    try_cast(attributes['traceloop.entity.input'] AS JSON) AS input_value,
    try_cast(attributes['traceloop.entity.output'] AS JSON) AS output_value
  FROM bucket_spans
  WHERE
    scope_name = 'opentelemetry.instrumentation.llamaindex'
    AND attributes['gen_ai.operation.name'] = 'chat'
),

messages AS (
  SELECT
    key,
    'in' AS direction,
    generate_subscripts(cast(input_value -> '$.messages' AS JSON[]), 1) AS message_position,
    unnest(cast(input_value -> '$.messages' AS JSON[])) AS message
  FROM chats
  WHERE json_type(input_value, '$.messages[0].blocks') = 'ARRAY'
  UNION ALL
  SELECT
    key,
    'out' AS direction,
    0 AS message_position,
    output_value -> '$.message' AS message
  FROM chats
  WHERE json_type(output_value, '$.message.blocks') = 'ARRAY'
)

SELECT
  key,
  direction,
  message_position,
  json_object(
    'role', message ->> '$.role',
    'tool_call_id', message ->> '$.additional_kwargs.tool_call_id',
    'content', if(
      message ->> '$.role' = 'tool',
      to_json(array_to_string(message ->> '$.blocks[*].text', chr(10))),
      llama_index_content(message -> '$.blocks')
    )
  ) AS message
FROM messages;

CREATE OR REPLACE TEMP TABLE traceloop_messages AS
WITH blocks AS (
  SELECT
    key,
    direction,
    message_position,
    role,
    unnest(cast(content AS JSON[])) AS block,
    generate_subscripts(cast(content AS JSON[]), 1) AS part_position
  FROM traceloop_turns
  WHERE is_blocks AND role <> 'tool'
),

block_parts AS (
  SELECT
    * EXCLUDE (block),
    block_part(block) AS part
  FROM blocks
)

SELECT
  key,
  direction,
  message_position,
  0 AS part_position,
  role,
  'reasoning' AS part_type,
  thought AS text
FROM traceloop_turns
WHERE thought IS NOT NULL
UNION ALL BY NAME
SELECT
  block_parts.key,
  block_parts.direction,
  block_parts.message_position,
  block_parts.part_position,
  block_parts.role,
  block_parts.part.part_type,
  block_parts.part.text,
  block_parts.part.tool_name,
  block_parts.part.call_id,
  block_parts.part.arguments,
  result_text(block_parts.part.result) AS result,
  block_parts.part.failed
FROM block_parts
LEFT JOIN traceloop_requests AS requests
  ON
    block_parts.key = requests.key
    AND block_parts.direction = requests.direction
    AND block_parts.message_position = requests.message_position
    AND block_parts.part.call_id = requests.call_id
WHERE block_parts.part.part_type IS NOT NULL AND requests.key IS NULL
UNION ALL BY NAME
SELECT
  key,
  direction,
  message_position,
  1 AS part_position,
  role,
  -- Anthropic's thoughts are messages of a role of their own.
  if(role = 'thinking', 'reasoning', 'text') AS part_type,
  result_text(content) AS text
FROM traceloop_turns
WHERE content <> '' AND role <> 'tool' AND NOT is_blocks
UNION ALL BY NAME
SELECT
  key,
  direction,
  message_position,
  1 AS part_position,
  role,
  'tool_call_response' AS part_type,
  call_id,
  result_text(content) AS result
FROM traceloop_turns
WHERE role = 'tool'
UNION ALL BY NAME
SELECT
  requests.key,
  requests.direction,
  requests.message_position,
  position_gap() + coalesce(requests.item, 0) AS part_position,
  messages.role,
  'tool_call' AS part_type,
  requests.tool_name,
  requests.call_id,
  requests.arguments
FROM traceloop_requests AS requests
INNER JOIN traceloop_turns AS messages USING (key, direction, message_position)
UNION ALL BY NAME
FROM chat_parts('traceloop_llama_index');

CREATE OR REPLACE TEMP VIEW traceloop_operations AS
-- Steps of a workflow of LlamaIndex tell which agent it is.
WITH workflow_steps AS MATERIALIZED (
  SELECT
    trace_id,
    span_id,
    parent_span_id,
    start_ns,
    try_cast(attributes['traceloop.entity.output'] AS JSON) ->> '$.current_agent_name'
      AS agent_name
  FROM bucket_spans
  WHERE
    scope_name = 'opentelemetry.instrumentation.llamaindex'
    AND contains(attributes['traceloop.entity.output'], '"current_agent_name": "')
),

-- A model call is in another span, below the step that calls the model.
workflow_agents AS (
  SELECT
    agents.key,
    arg_min(workflow_steps.agent_name, workflow_steps.start_ns) AS agent_name
  FROM workflow_steps
  INNER JOIN bucket_spans AS agents
    ON
      workflow_steps.trace_id = agents.trace_id
      AND workflow_steps.parent_span_id = agents.span_id
  GROUP BY agents.key
  UNION ALL
  SELECT
    models.key,
    any_value(workflow_steps.agent_name) AS agent_name
  FROM workflow_steps
  INNER JOIN bucket_spans AS requests
    ON
      workflow_steps.trace_id = requests.trace_id
      AND workflow_steps.span_id = requests.parent_span_id
  INNER JOIN bucket_spans AS models
    ON requests.trace_id = models.trace_id AND requests.span_id = models.parent_span_id
  GROUP BY models.key
),

spans AS (
  SELECT
    bucket_spans.*,
    without_later_items(bucket_spans.attributes, shapes.field_positions) AS fields
  FROM bucket_spans
  INNER JOIN shapes USING (shape)
),

callers AS (
  SELECT
    trace_id,
    span_id
  FROM bucket_spans
  WHERE attributes['traceloop.span.kind'] = 'tool'
),

marked AS (
  SELECT
    spans.*,
    texts.user_input,
    texts.key IS NOT NULL AS has_messages,
    spans.scope_name = 'opentelemetry.instrumentation.agno' AS is_plain,
    is_request(spans.scope_name, spans.attributes) AS is_request,
    -- Agno's results, as Python prints them.
    CASE
      WHEN is_plain
        THEN
          regexp_extract(
            attribute(spans.fields, 'traceloop.entity.output'),
            '(?s)^status=\x27(\w+)\x27 result=(?:None|[\x27"](.*?)[\x27"]|(.*?)) '
            'error=(?:None|[\x27"](.*?)[\x27"]) updated_session_state=',
            ['status', 'text', 'value', 'error']
          )
    END AS printed,
    -- Instrumentations of tools, and decorators of any function, wrap input and output.
    try_cast(
      coalesce(
        attribute(spans.fields, 'gen_ai.tool.call.arguments'),
        attribute(spans.fields, 'traceloop.entity.input')
      ) AS JSON
    ) AS input,
    try_cast(
      coalesce(
        attribute(spans.fields, 'gen_ai.tool.call.result'),
        attribute(spans.fields, 'traceloop.entity.output')
      ) AS JSON
    ) AS output,
    spans.scope_name = 'opentelemetry.instrumentation.llamaindex'
    AND attribute(spans.fields, 'tool.name') IS NOT NULL AS is_workflow_tool,
    CASE
      -- LlamaIndex: the workflow's task that calls a tool.
      WHEN is_workflow_tool THEN 'tool'
      -- A LangChain graph that a tool called, in versions that do not mark it as an agent.
      WHEN
        attribute(spans.fields, 'traceloop.span.kind') = 'task'
        AND callers.span_id IS NOT NULL
        AND attribute(spans.fields, 'gen_ai.operation.name') IS NULL
        AND json_type(output, '$.outputs.messages') = 'ARRAY'
        THEN 'agent'
      -- A LlamaIndex agent that another agent's tool runs.
      WHEN
        spans.scope_name = 'opentelemetry.instrumentation.llamaindex'
        AND attribute(spans.fields, 'traceloop.entity.name') = 'run.task'
        THEN 'agent'
      ELSE attribute(spans.fields, 'traceloop.span.kind')
    END AS kind,
    workflow_agents.agent_name AS workflow_agent
  FROM spans
  LEFT JOIN workflow_agents USING (key)
  LEFT JOIN last_texts('traceloop_messages') AS texts USING (key)
  LEFT JOIN callers
    ON
      spans.trace_id = callers.trace_id
      AND spans.parent_span_id = callers.span_id
  WHERE
    texts.key IS NOT NULL
    OR attribute(spans.fields, 'traceloop.span.kind') IS NOT NULL
    OR attribute(spans.fields, 'traceloop.entity.name') IS NOT NULL
    OR attribute(spans.fields, 'llm.request.type') IS NOT NULL
    OR is_request(spans.scope_name, spans.attributes)
)

SELECT
  marked.key,
  CASE
    WHEN marked.is_request THEN 'other'
    WHEN attribute(marked.fields, 'llm.request.type') IN ('chat', 'completion') THEN 'model'
    WHEN marked.kind = 'tool' THEN 'tool'
    WHEN marked.kind IN ('agent', 'workflow') THEN 'agent'
    WHEN marked.kind = 'handoff' THEN 'handoff'
    WHEN marked.kind IS NULL AND marked.has_messages THEN 'model'
    ELSE 'other'
  END AS operation,
  CASE
    WHEN marked.workflow_agent IS NOT NULL THEN marked.workflow_agent
    WHEN marked.kind = 'agent'
      THEN
        coalesce(
          attribute(marked.fields, 'gen_ai.agent.name'),
          attribute(marked.fields, 'traceloop.entity.name')
        )
    WHEN marked.kind IN ('model', 'tool')
      THEN attribute(marked.fields, 'traceloop.association.properties.lc_agent_name')
  END AS agent_name,
  CASE
    WHEN marked.kind = 'workflow'
      THEN regexp_replace(attribute(marked.fields, 'traceloop.entity.name'), '\.workflow$', '')
  END AS agent_label,
  CASE
    WHEN marked.kind = 'tool'
      THEN
        coalesce(
          attribute(marked.fields, 'gen_ai.tool.name'),
          CASE WHEN marked.is_workflow_tool THEN attribute(marked.fields, 'tool.name') END,
          attribute(marked.fields, 'traceloop.entity.name')
        )
  END AS tool_name,
  coalesce(
    marked.input ->> '$.kwargs.tool_call_id',
    marked.output ->> '$.output.kwargs.tool_call_id',
    CASE WHEN marked.is_workflow_tool THEN marked.output ->> '$.tool_id' END
  ) AS call_id,
  CASE
    WHEN marked.kind <> 'tool' THEN NULL
    WHEN marked.is_workflow_tool THEN attribute(marked.fields, 'tool.arguments')
    WHEN json_exists(marked.input, '$.inputs') THEN marked.input ->> '$.inputs'
    WHEN json_exists(marked.input, '$.tool_name') THEN marked.input ->> '$.arguments'
    -- Arguments by order and arguments by name; the written form has both.
    WHEN marked.input ->> '$.args' <> '[]' AND marked.input ->> '$.kwargs' <> '{}'
      THEN attribute(marked.fields, 'traceloop.entity.input')
    WHEN json_type(marked.input, '$.args') = 'ARRAY' AND marked.input ->> '$.args' <> '[]'
      THEN marked.input ->> '$.args'
    WHEN json_type(marked.input, '$.kwargs') = 'OBJECT' THEN marked.input ->> '$.kwargs'
    ELSE attribute(marked.fields, 'traceloop.entity.input')
  END AS arguments,
  CASE
    WHEN marked.kind <> 'tool' THEN NULL
    WHEN marked.is_workflow_tool
      THEN array_to_string(marked.output ->> '$.tool_output.blocks[*].text', chr(10))
    WHEN marked.printed.status <> ''
      THEN
        coalesce(
          nullif(marked.printed.error, ''), nullif(marked.printed.text, ''), marked.printed.value
        )
    WHEN json_exists(marked.output, '$.output') THEN marked.output ->> '$.output.kwargs.content'
    WHEN json_exists(marked.input, '$.tool_name') THEN marked.output ->> '$.result'
    ELSE result_text(attribute(marked.fields, 'traceloop.entity.output'))
  END AS result,
  coalesce(
    marked.user_input,
    CASE
      WHEN marked.kind <> 'tool' AND json_type(marked.input, '$.args[0]') = 'VARCHAR'
        THEN marked.input ->> '$.args[0]'
      WHEN marked.kind = 'agent' AND marked.is_plain
        THEN agno_input(attribute(marked.fields, 'traceloop.entity.input'))
    END
  ) AS user_input,
  CASE
    WHEN marked.kind IN ('agent', 'workflow') AND json_type(marked.output) = 'VARCHAR'
      THEN marked.output ->> '$'
    WHEN marked.kind = 'agent' AND marked.is_plain
      THEN attribute(marked.fields, 'traceloop.entity.output')
  END AS answer,
  marked.failed
  OR coalesce(
    marked.output ->> '$.output.kwargs.status' = 'error'
    OR marked.kind = 'tool' AND marked.output ->> '$.is_error' = 'true'
    OR marked.printed.status = 'failure'
    OR marked.is_workflow_tool AND marked.output ->> '$.tool_output.is_error' = 'true',
    FALSE
  ) AS failed,
  coalesce(
    attribute(marked.fields, 'gen_ai.response.model'),
    attribute(marked.fields, 'gen_ai.request.model')
  ) AS model,
  try_cast(
    coalesce(
      attribute(marked.fields, 'gen_ai.usage.prompt_tokens'),
      attribute(marked.fields, 'gen_ai.usage.input_tokens')
    ) AS BIGINT
  ) AS input_tokens,
  try_cast(
    coalesce(
      attribute(marked.fields, 'gen_ai.usage.completion_tokens'),
      attribute(marked.fields, 'gen_ai.usage.output_tokens')
    ) AS BIGINT
  ) AS output_tokens,
  try_cast(attribute(marked.fields, 'gen_ai.usage.cache_read_input_tokens') AS BIGINT)
    AS cache_read_tokens,
  try_cast(attribute(marked.fields, 'gen_ai.usage.reasoning_tokens') AS BIGINT)
    AS reasoning_tokens,
  try_cast(attribute(marked.fields, 'gen_ai.usage.cache_creation_input_tokens') AS BIGINT)
    AS cache_write_tokens,
  try_cast(
    coalesce(
      attribute(marked.fields, 'gen_ai.usage.total_tokens'),
      attribute(marked.fields, 'llm.usage.total_tokens')
    ) AS BIGINT
  ) AS total_tokens,
  -- For Bedrock it passes on the input count unchanged; for Anthropic it adds both counts.
  marked.scope_name = 'opentelemetry.instrumentation.bedrock' AS excludes_cached,
  traceloop_offers.offered_tools,
  coalesce(
    attribute(marked.fields, 'traceloop.association.properties.thread_id'),
    attribute(marked.fields, 'traceloop.association.properties.session_id')
  ) AS conversation_id
FROM marked
LEFT JOIN traceloop_offers USING (key);
