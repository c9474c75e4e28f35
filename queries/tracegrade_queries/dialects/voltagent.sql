-- VoltAgent: `span.type` names the kind of a span, and an agent's own span has none.
--
-- Its span of a model holds the tokens of the last request alone, and the tools run beside it. So
-- the agent's span, which holds those of all, represents its model calls. What a model asked for
-- is not recorded. The names are those of packages/core in
-- https://github.com/VoltAgent/voltagent, version 2.10, which was run.
--
-- Rank:
--   57
-- Marks:
--   ^@voltagent/
--   ^entity\.type$
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE voltagent_spans AS
SELECT
  key,
  trace_id,
  span_id,
  parent_span_id,
  start_ns,
  attributes,
  attributes['span.type'] AS type,
  attributes['entity.type'] AS entity,
  try_cast(attributes['input'] AS JSON) AS input,
  -- A text, or messages whose last one is the user's.
  CASE
    WHEN json_type(input) = 'ARRAY'
      THEN
        coalesce(
          input ->> '$[#-1].content', array_to_string(input ->> '$[#-1].parts[*].text', chr(10))
        )
    ELSE attributes['input']
  END AS question
FROM bucket_spans
WHERE
  starts_with(scope_name, '@voltagent/')
  OR (attributes['entity.type'] IN ('agent', 'workflow') AND attributes['entity.id'] IS NOT NULL);

CREATE OR REPLACE TEMP VIEW voltagent_messages AS
SELECT
  key,
  'in' AS direction,
  1 AS message_position,
  1 AS part_position,
  'user' AS role,
  'text' AS part_type,
  question AS text
FROM voltagent_spans
WHERE type IS NULL AND entity = 'agent' AND question IS NOT NULL;

CREATE OR REPLACE TEMP VIEW voltagent_operations AS
WITH offers AS (
  SELECT
    trace_id,
    parent_span_id AS span_id,
    any_value(attributes['llm.tools'] ORDER BY start_ns) AS tools
  FROM voltagent_spans
  WHERE type = 'llm' AND attributes['llm.tools'] IS NOT NULL
  GROUP BY trace_id, parent_span_id
),

spans AS (
  SELECT
    voltagent_spans.*,
    offers.tools,
    CASE
      WHEN voltagent_spans.type IS NULL AND voltagent_spans.entity IN ('agent', 'workflow')
        THEN 'agent'
      WHEN voltagent_spans.type = 'tool' THEN 'tool'
      ELSE 'other'
    END AS operation
  FROM voltagent_spans
  LEFT JOIN offers USING (trace_id, span_id)
)

SELECT
  key,
  operation,
  CASE
    WHEN operation = 'agent'
      THEN coalesce(attributes['subagent.name'], attributes['entity.name'])
  END AS agent_name,
  attributes['tool.name'] AS tool_name,
  attributes['tool.call.id'] AS call_id,
  CASE WHEN operation = 'tool' THEN attributes['input'] END AS arguments,
  CASE WHEN operation = 'tool' THEN result_text(attributes['output']) END AS result,
  CASE WHEN operation = 'agent' THEN question END AS user_input,
  CASE WHEN operation = 'agent' THEN attributes['output'] END AS answer,
  attributes['error.type'] AS error_type,
  attributes['error.message'] AS error_message,
  CASE WHEN operation = 'agent' THEN attributes['ai.model.name'] END AS model,
  CASE
    WHEN operation = 'agent' THEN try_cast(attributes['usage.prompt_tokens'] AS BIGINT)
  END AS input_tokens,
  CASE
    WHEN operation = 'agent' THEN try_cast(attributes['usage.completion_tokens'] AS BIGINT)
  END AS output_tokens,
  CASE
    WHEN operation = 'agent' THEN try_cast(attributes['usage.cached_tokens'] AS BIGINT)
  END AS cache_read_tokens,
  CASE
    WHEN operation = 'agent' THEN try_cast(attributes['usage.reasoning_tokens'] AS BIGINT)
  END AS reasoning_tokens,
  operation = 'agent' AND entity = 'agent' AS tells_calls,
  CASE WHEN operation = 'agent' THEN to_json(string_split(tools, ','))::VARCHAR END
    AS offered_tools,
  coalesce(attributes['conversation.id'], attributes['voltagent.conversation_id'])
    AS conversation_id
FROM spans;
