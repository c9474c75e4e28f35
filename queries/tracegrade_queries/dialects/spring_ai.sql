-- Spring AI: a run is a call of a chat client; tools have their arguments and results.
--
-- Model calls follow the GenAI conventions. They have no content: log records in the context of a
-- span hold the texts, in quotes that are not escaped, so that several texts are one.
-- The prompt of a chat client has the roles of its texts. The names are those of
-- spring-ai-commons and spring-ai-model in https://github.com/spring-projects/spring-ai.
--
-- Rank:
--   105
-- Marks:
--   ^spring\.ai\.
--   ^Chat (Model|Client) (Prompt Content|Completion)$
-- Reads:
--   bucket_events
--   bucket_spans
-- Order:
--   none
-- What was logged below a heading, without its brackets.
CREATE OR REPLACE TEMP MACRO spring_ai_logged(BODY) AS
regexp_extract(body, '^[^\n]*\n\[((?s:.*))\]\s*$', 1);

CREATE OR REPLACE TEMP TABLE spring_ai_records AS
SELECT
  key,
  arg_max(
    regexp_extract(
      spring_ai_logged(body),
      '(?s)(?:^|", )"user":"(.*?)"(?:, "(?:assistant|system|tool)":"|$)',
      1
    ),
    position
  ) FILTER (WHERE name = 'Chat Client Prompt Content') AS question,
  arg_max(regexp_extract(spring_ai_logged(body), '(?s)^"(.*)"$', 1), position) FILTER (
    WHERE name IN ('Chat Client Completion', 'Chat Model Completion')
  ) AS answer
FROM bucket_events
WHERE
  name IN ('Chat Client Prompt Content', 'Chat Client Completion', 'Chat Model Completion')
  AND body IS NOT NULL
GROUP BY key;

CREATE OR REPLACE TEMP TABLE spring_ai_spans AS
SELECT
  bucket_spans.key,
  bucket_spans.attributes,
  CASE bucket_spans.attributes['spring.ai.kind']
    WHEN 'chat_client' THEN 'agent'
    WHEN 'tool_call' THEN 'tool'
    WHEN 'advisor' THEN 'other'
    WHEN 'vector_store' THEN 'other'
    ELSE if(bucket_spans.attributes['gen_ai.operation.name'] = 'chat', 'model', 'other')
  END AS operation,
  nullif(spring_ai_records.question, '') AS question,
  nullif(spring_ai_records.answer, '') AS answer
FROM bucket_spans
LEFT JOIN spring_ai_records USING (key)
WHERE
  bucket_spans.attributes['spring.ai.kind'] IS NOT NULL
  OR bucket_spans.attributes['spring.ai.model.request.tool.names'] IS NOT NULL
  OR spring_ai_records.key IS NOT NULL;

CREATE OR REPLACE TEMP VIEW spring_ai_messages AS
SELECT
  key,
  'out' AS direction,
  1 AS message_position,
  1 AS part_position,
  'assistant' AS role,
  'text' AS part_type,
  answer AS text
FROM spring_ai_spans
WHERE operation = 'model' AND answer IS NOT NULL;

CREATE OR REPLACE TEMP VIEW spring_ai_operations AS
SELECT
  key,
  operation,
  attributes['spring.ai.tool.definition.name'] AS tool_name,
  nullif(attributes['spring.ai.tool.call.id'], '') AS call_id,
  attributes['spring.ai.tool.call.arguments'] AS arguments,
  result_text(attributes['spring.ai.tool.call.result']) AS result,
  CASE
    WHEN operation = 'agent'
      THEN coalesce(question, attributes['spring.ai.chat.client.user.text'])
  END AS user_input,
  CASE WHEN operation = 'agent' THEN answer END AS answer,
  coalesce(
    attributes['spring.ai.model.request.tool.names'],
    attributes['spring.ai.chat.client.tool.names']
  ) AS offered_tools,
  attributes['spring.ai.chat.client.conversation.id'] AS conversation_id
FROM spring_ai_spans;
