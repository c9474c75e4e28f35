-- What models received and said, by part.
--
-- Reads:
--   otel_genai_lists
--   otel_genai_plain_chat
-- Order:
--   none
-- The texts of a message's parts, as one.
CREATE OR REPLACE TEMP MACRO texts_of(PARTS) AS
array_to_string(
  list_transform(
    list_filter(parts, LAMBDA part: part.type = 'text'),
    LAMBDA part: part.content ->> '$'
  ),
  ''
);

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

-- Google ADK writes a stream piece by piece, and some models the whole after it; only what is last
-- has a reason for its end. Pieces without the whole are put together: their texts are one.
pieces AS (
  SELECT
    *,
    coalesce(messages[-1].finish_reason, '') <> '' AND messages[1].finish_reason = ''
      AS is_in_pieces,
    CASE
      WHEN is_in_pieces
        THEN flatten(list_transform(messages[:-2], LAMBDA message: message.parts))
    END AS first_parts,
    CASE WHEN is_in_pieces THEN texts_of(first_parts) END AS first_text,
    CASE WHEN is_in_pieces THEN texts_of(messages[-1].parts) END AS last_text
  FROM parsed
),

whole AS (
  SELECT
    key,
    scope_name,
    direction,
    CASE
      WHEN NOT coalesce(is_in_pieces, FALSE) THEN messages
      -- The whole may tell more than the pieces, or less: thoughts.
      WHEN
        last_text <> ''
        AND (ends_with(first_text, last_text) OR ends_with(last_text, first_text))
        THEN messages[-1:]
      ELSE [
        struct_update(
          messages[-1],
          parts := [
            struct_update(
              first_parts[1], type := 'text', content := to_json(first_text || last_text)
            )
          ]
          || list_filter(
            first_parts || messages[-1].parts,
            LAMBDA part: part.type <> 'text'
          )
        )
      ]
    END AS messages
  FROM pieces
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

-- A message of which nothing was written is still one: what the user says in it is not known.
parts AS (
  SELECT
    key,
    scope_name,
    direction,
    message_position,
    -- Some write the name of a constant: MessageRole.USER.
    if(
      contains(message.role, '.'), lower(regexp_extract(message.role, '\w+$')), message.role
    ) AS role,
    unnest(coalesce(nullif(message.parts, []), [{ 'type': 'text' }])) AS part,
    generate_subscripts(coalesce(nullif(message.parts, []), [NULL]), 1) AS part_position,
    greatest(len(message.parts), 1) AS part_count
  FROM messages
  WHERE len(message.parts) > 0 OR (message.role = 'user' AND message.parts = [])
),

-- Gemini's calls and responses mostly have no ids. These make some up, of the tool's name and
-- the part's place in its message: a call and its response differ, what differs may be the same.
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
    WHEN role = 'tool' AND part.type = 'text' THEN 'tool_call_response'
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
  result_text(
    coalesce(part.response, part.result, CASE WHEN role = 'tool' THEN part.content END) ->> '$'
  ) AS result
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
