-- Haystack's own tracing: agents, their steps and components, inputs and outputs as JSON.
--
-- From version 3 on, an agent's calls and tools have spans of their own. Before, they are
-- components: a chat model's class ends in ChatGenerator, and a ToolInvoker runs the calls of a
-- message. If there are several, none of these calls has a span. An input with a callback is not
-- JSON; the output is.
--
-- Rank:
--   120
-- Marks:
--   ^haystack\.
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE haystack_spans AS
SELECT
  key,
  trace_id,
  span_id,
  parent_span_id,
  attributes,
  try_cast(
    coalesce(
      attributes['haystack.agent.step.llm.input'],
      attributes['haystack.agent.input'],
      attributes['haystack.component.input']
    ) AS JSON
  ) AS input_value,
  try_cast(
    coalesce(
      attributes['haystack.agent.step.llm.output'],
      attributes['haystack.agent.output'],
      attributes['haystack.component.output']
    ) AS JSON
  ) AS output_value,
  CASE
    WHEN name = 'haystack.agent.run' THEN 'agent'
    -- Around it, in a pipeline, where it has a name.
    WHEN attributes['haystack.component.type'] = 'Agent' THEN 'agent'
    WHEN name = 'haystack.agent.step.llm' THEN 'model'
    WHEN name = 'haystack.agent.step.tool' THEN 'tool'
    WHEN ends_with(attributes['haystack.component.type'], 'ChatGenerator') THEN 'model'
    WHEN json_array_length(output_value, '$.tool_messages') = 1 THEN 'tool'
    ELSE 'other'
  END AS operation,
  output_value -> '$.tool_messages[0].content[0].tool_call_result' AS invoked,
  list_filter(
    cast(
      if(operation = 'agent' AND input_value IS NULL, output_value -> '$.messages', NULL) AS JSON[]
    ),
    LAMBDA message: message ->> '$.role' = 'user'
  )[-1] AS last_user_message
FROM bucket_spans
WHERE starts_with(name, 'haystack.');

CREATE OR REPLACE TEMP VIEW haystack_chat AS
WITH lists AS (
  SELECT
    key,
    'in' AS direction,
    input_value -> '$.messages' AS messages
  FROM haystack_spans
  UNION ALL
  SELECT
    key,
    'out' AS direction,
    coalesce(
      output_value -> '$.replies', json_array(output_value -> '$.messages[#-1]')
    ) AS messages
  FROM haystack_spans
),

messages AS (
  SELECT
    key,
    direction,
    generate_subscripts(cast(messages AS JSON[]), 1) AS message_position,
    unnest(cast(messages AS JSON[])) AS message
  FROM lists
  WHERE json_type(messages) = 'ARRAY'
)

-- A block is an object with one key, which names its type.
SELECT
  key,
  direction,
  message_position,
  json_object(
    'role',
    if(message ->> '$.role' = 'tool', 'user', message ->> '$.role'),
    'content',
    list_transform(
      cast(message -> '$.content' AS JSON[]),
      LAMBDA block: CASE json_keys(block)[1]
        WHEN 'tool_call'
          THEN json_object(
            'type', 'tool_use',
            'id', block ->> '$.tool_call.id',
            'name', block ->> '$.tool_call.tool_name',
            'input', block -> '$.tool_call.arguments'
          )
        WHEN 'tool_call_result'
          THEN json_object(
            'type', 'tool_result',
            'tool_use_id', block ->> '$.tool_call_result.origin.id',
            'content', block -> '$.tool_call_result.result',
            'is_error', block -> '$.tool_call_result.error'
          )
        WHEN 'reasoning'
          THEN json_object('type', 'reasoning', 'text', block ->> '$.reasoning.reasoning_text')
        ELSE block
      END
    )
  ) AS message
FROM messages
WHERE json_type(message, '$.content') = 'ARRAY';

CREATE OR REPLACE TEMP TABLE haystack_messages AS
FROM chat_parts('haystack_chat');

CREATE OR REPLACE TEMP VIEW haystack_operations AS
WITH described AS (
  SELECT
    haystack_spans.*,
    haystack_spans.output_value -> '$.replies[0].meta' AS meta,
    texts.user_input,
    texts.answer,
    callers.attributes['haystack.tool.name'] AS called_as
  FROM haystack_spans
  LEFT JOIN last_texts('haystack_messages') AS texts USING (key)
  LEFT JOIN haystack_spans AS callers
    ON
      haystack_spans.trace_id = callers.trace_id
      AND haystack_spans.parent_span_id = callers.span_id
      AND haystack_spans.operation = 'agent'
      AND callers.operation = 'tool'
)

SELECT
  key,
  operation,
  if(operation = 'agent', attributes['haystack.component.name'], NULL) AS agent_name,
  -- An agent has no name of its own.
  called_as AS agent_label,
  coalesce(attributes['haystack.tool.name'], invoked ->> '$.origin.tool_name') AS tool_name,
  invoked ->> '$.origin.id' AS call_id,
  coalesce(
    attributes['haystack.agent.step.tool.input'], invoked ->> '$.origin.arguments'
  ) AS arguments,
  coalesce(
    result_text(attributes['haystack.agent.step.tool.output']), invoked ->> '$.result'
  ) AS result,
  coalesce(
    user_input, array_to_string(last_user_message ->> '$.content[*].text', chr(10))
  ) AS user_input,
  if(operation = 'agent', answer, NULL) AS answer,
  coalesce(attributes['haystack.tool.error'] = 'true', invoked ->> '$.error' = 'true', FALSE)
    AS failed,
  if(
    attributes['haystack.tool.error'] = 'true',
    try_cast(attributes['haystack.agent.step.tool.output'] AS JSON) ->> '$.error',
    NULL
  ) AS error_message,
  meta ->> '$.model' AS model,
  unnest(reported_usage(meta -> '$.usage')),  -- noqa: AL03
  if(
    json_type(input_value, '$.tools') = 'ARRAY',
    '[' || array_to_string(input_value ->> '$.tools[*].data', ',') || ']',
    NULL
  ) AS offered_tools
FROM described;
