-- Parts of messages, each from the first list that contains it; and the lists of each input.
--
-- Reads:
--   otel_genai_history
--   otel_genai_messages_read
-- Order:
--   none
-- The lists of each input, in their order, with the number of messages before each.
CREATE OR REPLACE TEMP TABLE otel_genai_references AS
WITH members AS (
  SELECT
    key,
    first_key,
    position
  FROM otel_genai_history
  UNION ALL
  SELECT DISTINCT
    first_key AS key,
    first_key,
    0 AS position
  FROM otel_genai_history
),

counted AS (
  SELECT
    members.key,
    members.first_key,
    members.position,
    sum(coalesce(len(messages_read.messages), 0)) OVER (
      PARTITION BY members.first_key ORDER BY members.position
    )::BIGINT - coalesce(len(messages_read.messages), 0) AS messages_before
  FROM members
  INNER JOIN otel_genai_messages_read AS messages_read
    ON members.key = messages_read.key AND messages_read.direction = 'in'
)

SELECT
  referring.key,
  'in' AS direction,
  counted.key AS source_key,
  counted.messages_before
FROM counted AS referring
INNER JOIN counted
  ON referring.first_key = counted.first_key AND referring.position >= counted.position
UNION ALL
SELECT
  messages_read.key,
  messages_read.direction,
  messages_read.key AS source_key,
  0 AS messages_before
FROM otel_genai_messages_read AS messages_read
LEFT JOIN members ON messages_read.key = members.key AND messages_read.direction = 'in'
WHERE members.key IS NULL;

CREATE OR REPLACE TEMP TABLE otel_genai_parts AS
WITH messages AS (
  SELECT
    key,
    scope_name,
    direction,
    generate_subscripts(messages, 1) AS message_position,
    unnest(messages) AS message
  FROM otel_genai_messages_read
),

-- LiteLLM keeps OpenAI's fields next to the parts: calls, and the call id of a result.
called AS (
  SELECT
    *,
    list_transform(
      message.tool_calls,
      LAMBDA call: {
        'type': 'tool_call',
        'content': NULL::JSON,
        'id': call.id,
        'name': call.function.name,
        'arguments': call.function.arguments,
        'response': NULL::JSON,
        'result': NULL::JSON,
        'builtin': NULL::VARCHAR,
        'is_error': NULL::VARCHAR,
        'isError': NULL::VARCHAR,
        'status': NULL::VARCHAR
      }
    ) AS calls
  FROM messages
),

every_part AS (
  SELECT
    * EXCLUDE (message, calls),
    if(
      message.tool_calls IS NULL AND message.tool_call_id IS NULL,
      message,
      struct_update(
        message,
        -- Calls that a provider ran come before the text.
        parts := list_filter(coalesce(calls, []), LAMBDA part: is_hosted_id(part.id))
        || list_transform(
          coalesce(message.parts, []),
          LAMBDA part: struct_update(part, id := coalesce(part.id, message.tool_call_id))
        )
        || list_filter(
          coalesce(calls, []), LAMBDA part: NOT coalesce(is_hosted_id(part.id), FALSE)
        )
      )
    ) AS message
  FROM called
),

-- A message without content still counts: the user's text in it is not known.
parts AS (
  SELECT
    key,
    scope_name,
    direction,
    message_position,
    -- Some write the name of a constant: MessageRole.USER, or User.
    lower(regexp_extract(message.role, '\w+$')) AS role,
    unnest(coalesce(nullif(message.parts, []), [{ 'type': 'text' }])) AS part,
    generate_subscripts(coalesce(nullif(message.parts, []), [NULL]), 1) AS part_position,
    greatest(len(message.parts), 1) AS part_count
  FROM every_part
  WHERE len(message.parts) > 0 OR (message.role = 'user' AND message.parts = [])
),

-- Gemini's calls and responses usually have no ids. These instrumentations make up ids from the
-- tool's name and the part's position in its message. So a call and its response get different
-- ids, and different calls may get the same id.
counted AS (
  SELECT DISTINCT
    key,
    part.name AS tool_name
  FROM parts
  WHERE
    scope_name IN ('gcp.vertex.agent', 'opentelemetry.instrumentation.google_genai')
    AND regexp_matches(part.id, '_\d+$')
    AND starts_with(part.id, part.name || '_')
),

-- openai-agents-v2 writes output as Python prints it. Items of a response can be read; a whole
-- message cannot.
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
  WHERE parts.direction = 'out' OR NOT is_hosted_type(parts.part.type, parts.part.builtin)
)

SELECT
  key,
  direction,
  message_position,
  -- This one writes calls before the text; in Chat Completions, where both are fields, the text
  -- comes first. If reasoning is a field too, some write it last, although it precedes the output.
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
    -- Koog's thoughts are messages with a role of their own.
    WHEN role = 'reasoning' AND part.type = 'text' THEN 'reasoning'
    WHEN printed.tool_name <> '' THEN 'tool_call'
    WHEN printed.rest <> '' THEN 'unreadable'
    WHEN role = 'tool' AND part.type = 'text' THEN 'tool_call_response'
    ELSE part.type
  END AS part_type,
  coalesce(
    nullif(printed.thought, ''),
    part.content ->> '$.reasoningText.text',
    part.content ->> '$'
  ) AS text,
  coalesce(part.name, counted_tool, nullif(printed.tool_name, '')) AS tool_name,
  CASE
    WHEN counted_tool IS NULL AND NOT is_item_id(scope_name, part.id)
      THEN coalesce(part.id, nullif(printed.call_id, ''))
  END AS call_id,
  coalesce(part.arguments ->> '$', nullif(printed.arguments, '')) AS arguments,
  result_text(
    coalesce(part.response, part.result, CASE WHEN role = 'tool' THEN part.content END) ->> '$'
  ) AS result,
  'true' IN (part.is_error, part['isError'])
  OR part.status = 'error'
  OR is_marked_failed(coalesce(part.response, part.result) ->> '$') AS failed
FROM readings;
