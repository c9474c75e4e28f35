-- OpenRouter's Broadcast: a span for each request to a model, whoever sent it.
--
-- A request holds its whole prompt and what the model answered, each as one JSON text. Spans below
-- it, the tries of providers, follow the GenAI conventions and hold no content.
--
-- Rank:
--   56
-- Marks:
--   ^openrouter$
--   ^trace\.metadata\.openrouter\.
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE openrouter_spans AS
SELECT
  key,
  attributes,
  try_cast(attributes['gen_ai.completion'] AS JSON) AS completion
FROM bucket_spans
WHERE
  attributes['span.type'] = 'generation'
  AND (scope_name = 'openrouter' OR attributes['trace.metadata.openrouter.source'] IS NOT NULL);

CREATE OR REPLACE TEMP VIEW openrouter_texts AS
SELECT
  key,
  'in' AS direction,
  0 AS position,
  'user' AS role,
  attributes['gen_ai.prompt'] AS text
FROM openrouter_spans;

CREATE OR REPLACE TEMP TABLE openrouter_chat AS
SELECT
  key,
  direction,
  message_position,
  message
FROM history_chat('openrouter_texts')
UNION ALL BY NAME
SELECT
  key,
  'out' AS direction,
  1 AS message_position,
  json_object(
    'role', 'assistant',
    'content', completion -> '$.completion',
    'reasoning', completion -> '$.reasoning',
    'tool_calls', completion -> '$.toolCalls'
  ) AS message
FROM openrouter_spans
WHERE json_type(completion) = 'OBJECT';

CREATE OR REPLACE TEMP TABLE openrouter_messages AS
FROM chat_parts('openrouter_chat');

-- Tokens and costs have names that the GenAI conventions' dialect reads.
CREATE OR REPLACE TEMP VIEW openrouter_operations AS
SELECT
  key,
  'model' AS operation,
  completion ->> '$.tools' AS offered_tools
FROM openrouter_spans;
