-- Haystack: message parts after the first text, tools with their inputs, and agents used as tools.
--
-- The message parts and the tools are only in the input, as Python prints them. No tool has a
-- span: an agent within another is the tool that the last model call before it requested.
--
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE openinference_haystack AS
SELECT
  key,
  try_cast(attributes['input.value'] AS JSON) AS input_value
FROM bucket_spans
WHERE
  scope_name = 'openinference.instrumentation.haystack'
  AND attributes['openinference.span.kind'] = 'LLM';

CREATE OR REPLACE TEMP TABLE openinference_haystack_parts AS
WITH messages AS (
  SELECT
    key,
    generate_subscripts(input_value ->> '$.messages[*]', 1) AS message_position,
    unnest(input_value ->> '$.messages[*]') AS message
  FROM openinference_haystack
),

printed AS (
  SELECT
    key,
    message_position,
    'tool' AS role,
    'tool_call_response' AS part_type,
    unnest(
      regexp_extract_all(
        message,
        'ToolCallResult\(result=(\x27(?:[^\x27\\]|\\.)*\x27|"(?:[^"\\]|\\.)*"), origin=ToolCall\(',
        1
      )
    ) AS literal,
    generate_subscripts(
      regexp_extract_all(message, 'ToolCallResult\(result='), 1
    ) AS part_position,
    regexp_extract_all(message, '\), error=(True|False)\)', 1) AS errors
  FROM messages
  WHERE starts_with(message, 'ChatMessage(_role=<ChatRole.TOOL')
  UNION ALL
  SELECT
    key,
    message_position,
    'user' AS role,
    'text' AS part_type,
    unnest(
      regexp_extract_all(
        message, 'TextContent\(text=(\x27(?:[^\x27\\]|\\.)*\x27|"(?:[^"\\]|\\.)*")\)', 1
      )[2:]
    ) AS literal,
    1 + generate_subscripts(
      regexp_extract_all(message, 'TextContent\(text=')[2:], 1
    ) AS part_position,
    [] AS errors
  FROM messages
  WHERE starts_with(message, 'ChatMessage(_role=<ChatRole.USER')
)

SELECT
  key,
  'in' AS direction,
  message_position - 1 AS message_position,
  part_position,
  role,
  part_type,
  if(part_type = 'text', python_text(literal), NULL) AS text,
  if(part_type = 'text', NULL, python_text(literal)) AS result,
  errors[part_position] = 'True' AS failed
FROM printed;

CREATE OR REPLACE TEMP VIEW openinference_haystack_agents AS
WITH spans AS MATERIALIZED (
  SELECT
    key,
    trace_id,
    span_id,
    parent_span_id,
    start_ns,
    name = 'Agent.run' AS is_agent,
    attributes['openinference.span.kind'] = 'LLM' AS is_model,
    attributes['llm.output_messages.0.message.tool_calls.0.tool_call.function.name'] AS requested,
    attributes['llm.output_messages.0.message.tool_calls.1.tool_call.function.name'] AS other
  FROM bucket_spans
  WHERE scope_name = 'openinference.instrumentation.haystack'
),

before AS (
  SELECT
    agents.key,
    arg_max(
      { 'requested': models.requested, 'other': models.other }, models.start_ns
    ) AS output_value
  FROM spans AS agents
  -- The outer agent may not have arrived.
  LEFT JOIN spans AS callers
    ON agents.trace_id = callers.trace_id AND agents.parent_span_id = callers.span_id
  INNER JOIN spans AS models
    ON
      agents.trace_id = models.trace_id
      AND agents.parent_span_id = models.parent_span_id
      AND agents.start_ns > models.start_ns
  WHERE agents.is_agent AND models.is_model AND coalesce(callers.is_agent, TRUE)
  GROUP BY agents.key
)

SELECT
  key,
  output_value.requested AS called_as
FROM before
-- If there are several, the right one is not known.
WHERE output_value.other IS NULL;
