-- Pipecat's voice agents: a run is a `turn`, below the `conversation`; model calls are `llm`.
--
-- A model call holds its input, in the provider's form, and the text of its output. The calls that
-- it requested are in the input of the next call. For a realtime model, `llm_response` holds both
-- text and calls. The names are those of pipecat/utils/tracing in
-- https://github.com/pipecat-ai/pipecat.
--
-- Rank:
--   66
-- Marks:
--   ^pipecat$
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE pipecat_spans AS
SELECT
  key,
  name,
  attributes,
  coalesce(attributes['gen_ai.operation.name'], name) AS operation_name,
  try_cast(attributes['input'] AS JSON) AS input_value
FROM bucket_spans
WHERE scope_name = 'pipecat';

CREATE OR REPLACE TEMP VIEW pipecat_chat AS
WITH messages AS (
  SELECT
    key,
    generate_subscripts(cast(input_value AS JSON[]), 1) AS message_position,
    unnest(cast(input_value AS JSON[])) AS message
  FROM pipecat_spans
  WHERE operation_name IN ('chat', 'llm_request') AND json_type(input_value) = 'ARRAY'
)

SELECT
  key,
  'in' AS direction,
  message_position,
  -- Google's messages have parts.
  if(
    json_type(message, '$.parts') = 'ARRAY',
    json_object('role', message ->> '$.role', 'content', message -> '$.parts'),
    message
  ) AS message
FROM messages
UNION ALL BY NAME
SELECT
  key,
  'out' AS direction,
  1 AS message_position,
  json_object('role', 'assistant', 'content', attributes['output']) AS message
FROM pipecat_spans
WHERE operation_name IN ('chat', 'llm_response') AND attributes['output'] <> '';

CREATE OR REPLACE TEMP TABLE pipecat_messages AS
FROM chat_parts('pipecat_chat');

CREATE OR REPLACE TEMP VIEW pipecat_operations AS
SELECT
  key,
  CASE
    WHEN name = 'turn' THEN 'agent'
    WHEN operation_name IN ('chat', 'llm_response') THEN 'model'
    ELSE 'other'
  END AS operation,
  attributes['gen_ai.request.model'] AS model,
  coalesce(attributes['tools'], attributes['tools.definitions']) AS offered_tools,
  attributes['conversation.id'] AS conversation_id
FROM pipecat_spans;
