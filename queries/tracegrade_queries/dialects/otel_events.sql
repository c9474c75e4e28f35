-- OpenTelemetry GenAI conventions before 1.37: each message is an event of its own.
--
-- Log records hold messages in their body (openai-v2, agent-framework, Google ADK). Span events
-- hold them in attributes: for Strands a list of Bedrock's content blocks, for Azure's clients the
-- body of a log record. Before 1.28 two span events hold all messages of a call, as JSON or as
-- plain text. Before 1.26 two attributes of the span do. Google ADK writes `<elided>` for content
-- that it must not record. AWS's distribution (Bedrock AgentCore) moves messages from attributes
-- and events of a span into one record.
--
-- Rank:
--   70
-- Marks:
--   ^gen_ai\.(\w+\.message|messages|choice|(content\.)?(prompt|completion))$
-- Reads:
--   bucket_events
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE otel_events_moved AS
WITH sides AS (
  SELECT
    key,
    unnest(['in', 'out']) AS direction,
    unnest(
      [try_cast(body AS JSON) -> '$.input.messages', try_cast(body AS JSON) -> '$.output.messages']
    ) AS messages
  FROM bucket_events
  WHERE name = 'gen_ai.messages'
)

SELECT
  key,
  direction,
  generate_subscripts(cast(messages AS JSON[]), 1) AS position,
  unnest(cast(messages AS JSON[])) AS message
FROM sides
WHERE json_type(messages) = 'ARRAY';

CREATE OR REPLACE TEMP TABLE otel_events_history AS
SELECT
  key,
  if(name = 'gen_ai.content.prompt', 'in', 'out') AS direction,
  position,
  if(name = 'gen_ai.content.prompt', 'user', 'assistant') AS role,
  coalesce(attributes['gen_ai.prompt'], attributes['gen_ai.completion']) AS text
FROM bucket_events
WHERE name IN ('gen_ai.content.prompt', 'gen_ai.content.completion')
UNION ALL BY NAME
SELECT
  key,
  unnest(['in', 'out']) AS direction,
  0 AS position,
  unnest(['user', 'assistant']) AS role,
  unnest([attributes['gen_ai.prompt'], attributes['gen_ai.completion']]) AS text
FROM bucket_spans
-- LangSmith writes the inputs and outputs of any run there, n8n the tools of its agent.
WHERE
  attributes['langsmith.span.kind'] IS NULL
  AND coalesce(
    json_keys(try_cast(attributes['gen_ai.prompt'] AS JSON)) <> ['agent', 'tool_count', 'tools'],
    TRUE
  )
UNION ALL BY NAME
-- OpenInference's roles stay on the span, so the role of a moved text is known only for outputs.
SELECT
  otel_events_moved.key,
  otel_events_moved.direction,
  otel_events_moved.position,
  otel_events_moved.message ->> '$.role' AS role,
  otel_events_moved.message ->> '$.content' AS text
FROM otel_events_moved
INNER JOIN bucket_spans USING (key)
WHERE
  json_type(otel_events_moved.message, '$.content') = 'VARCHAR'
  AND (
    bucket_spans.attributes['openinference.span.kind'] IS NULL
    OR (
      otel_events_moved.direction = 'out'
      AND NOT regexp_matches(otel_events_moved.message ->> '$.content', '^\s*[\[{]')
    )
  );

CREATE OR REPLACE TEMP TABLE otel_events_chat AS
WITH parts AS (
  SELECT
    key,
    position,
    CASE WHEN name = 'gen_ai.choice' THEN 'out' ELSE 'in' END AS direction,
    CASE name
      WHEN 'gen_ai.choice' THEN 'assistant'
      ELSE regexp_extract(name, 'gen_ai\.(\w+)\.message', 1)
    END AS role,
    coalesce(
      try_cast(body AS JSON),
      try_cast(attributes['gen_ai.event.content'] AS JSON),
      -- A whole message.
      CASE
        WHEN starts_with(attributes['message'], '{') THEN try_cast(attributes['message'] AS JSON)
      END
    ) AS body,
    coalesce(attributes['content'], attributes['message']) AS content,
    attributes['tool_calls'] AS tool_calls,
    attributes['id'] AS call_id
  FROM bucket_events
  WHERE
    name IN (
      'gen_ai.system.message', 'gen_ai.user.message', 'gen_ai.assistant.message',
      'gen_ai.tool.message', 'gen_ai.choice'
    )
  UNION ALL BY NAME
  -- Span events that were moved into a record, each with its attributes. If several have one name,
  -- only the last remains. An earlier output of the model is not a choice: its text has another
  -- key.
  SELECT
    key,
    if(message ->> '$.role' = 'assistant', 1, position) AS position,
    if(json_exists(message, '$.content.message'), 'out', 'in') AS direction,
    message ->> '$.role' AS role,
    coalesce(message ->> '$.content.message', message ->> '$.content.content') AS content,
    message ->> '$.content.tool_calls' AS tool_calls,
    message ->> '$.content.id' AS call_id
  FROM otel_events_moved
  WHERE json_type(message, '$.content') = 'OBJECT'
)

SELECT
  key,
  direction,
  position AS message_position,
  json_merge_patch(
    json_object('role', role),
    -- A choice in a log record holds the message; other bodies are the message, or hold Google's.
    CASE
      WHEN json_type(body, '$.message') = 'OBJECT' THEN body -> '$.message'
      WHEN json_type(body, '$.content.parts') = 'ARRAY'
        THEN json_object(
          'role', coalesce(body ->> '$.content.role', role), 'content', body -> '$.content.parts'
        )
      WHEN json_type(body) = 'OBJECT' THEN body
      ELSE json_object(
        'content', coalesce(try_cast(content AS JSON), to_json(content)),
        'tool_calls', try_cast(tool_calls AS JSON),
        'id', call_id
      )
    END
  ) AS message
FROM parts
WHERE body ->> '$.content' IS DISTINCT FROM '<elided>'
UNION ALL BY NAME
SELECT
  key,
  direction,
  message_position,
  message
FROM history_chat('otel_events_history');

CREATE OR REPLACE TEMP TABLE otel_events_messages AS
FROM chat_parts('otel_events_chat');

-- The current conventions give the kind of a span; this adds the content of its events. The
-- messages of a tool span are its arguments and its result.
CREATE OR REPLACE TEMP VIEW otel_events_operations AS
WITH event_texts AS (
  SELECT
    key,
    arg_max(result, message_position) FILTER (WHERE role = 'tool') AS tool_message,
    arg_max(text, (message_position, part_position)) FILTER (
      WHERE direction = 'out' AND part_type = 'text'
    ) AS answer
  FROM otel_events_messages
  GROUP BY key
),

kinds AS (
  SELECT
    key,
    coalesce(attributes['gen_ai.operation.name'] = 'execute_tool', FALSE) AS is_tool
  FROM bucket_spans
)

SELECT
  event_texts.key,
  cast(NULL AS VARCHAR) AS operation,
  if(kinds.is_tool, event_texts.tool_message, NULL) AS arguments,
  if(kinds.is_tool, event_texts.answer, NULL) AS result,
  if(kinds.is_tool, NULL, prompts.user_input) AS user_input,
  if(kinds.is_tool, NULL, event_texts.answer) AS answer
FROM event_texts
INNER JOIN kinds USING (key)
LEFT JOIN last_texts('otel_events_messages') AS prompts USING (key);
