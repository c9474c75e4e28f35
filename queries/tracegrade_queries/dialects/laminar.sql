-- Laminar: spans with a type, an input and an output; and OpenHands, which sends its spans by it.
--
-- Model calls follow the GenAI conventions. OpenHands' run is `conversation.run`, below the span
-- of a conversation that ends when the conversation is closed. A tool's span has the name of an
-- action's class, the action as input and the observation as output. The run of another program
-- is its outermost function that Laminar observes, by the path that each span has. The turn of
-- another agent that OpenHands drives over ACP is one span with the texts of all its model calls.
-- The names are those of openhands/sdk/observability in
-- https://github.com/OpenHands/software-agent-sdk and of opentelemetry_lib/tracing in
-- https://github.com/lmnr-ai/lmnr-python.
--
-- Rank:
--   112
-- Marks:
--   ^lmnr\.span\.
-- Reads:
--   bucket_spans
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE laminar_spans AS
SELECT
  key,
  trace_id,
  span_id,
  parent_span_id,
  name,
  attributes,
  attributes['lmnr.span.type'] AS span_type,
  attributes['lmnr.association.properties.metadata.tool_call_id'] AS call_id,
  attributes['lmnr.span.input'] AS input,
  try_cast(attributes['lmnr.span.input'] AS JSON) AS input_value,
  attributes['lmnr.span.output'] AS output,
  try_cast(attributes['lmnr.span.output'] AS JSON) AS output_value,
  max(attributes['lmnr.association.properties.metadata.acp_server']) OVER (PARTITION BY trace_id)
    AS acp_server,
  bool_or(name IN ('conversation.run', 'conversation.arun', 'acp.completion'))
    OVER (PARTITION BY trace_id) AS is_openhands,
  CASE
    WHEN name IN ('conversation.run', 'conversation.arun', 'acp.completion') THEN 'agent'
    -- The client of an MCP server, inside the tool's span.
    WHEN name = 'MCPToolExecutor.call_tool' THEN 'other'
    WHEN span_type = 'LLM' THEN 'model'
    WHEN span_type = 'TOOL' THEN 'tool'
    -- The outermost function that another program observes.
    WHEN
      span_type = 'DEFAULT'
      AND NOT is_openhands
      AND json_array_length(try_cast(attributes['lmnr.span.path'] AS JSON)) = 1
      THEN 'agent'
    ELSE 'other'
  END AS operation
FROM bucket_spans
WHERE
  attributes['lmnr.span.type'] IS NOT NULL
  OR attributes['lmnr.span.input'] IS NOT NULL
  OR attributes['lmnr.span.output'] IS NOT NULL;

-- The names of tools that an agent over ACP called: their spans have titles for people.
CREATE OR REPLACE TEMP TABLE laminar_acp_tools AS
WITH calls AS (
  SELECT
    trace_id,
    unnest(cast(output_value -> '$[0].tool_calls' AS JSON[])) AS call
  FROM laminar_spans
  WHERE
    name = 'acp.completion'
    AND json_type(output_value, '$[0].tool_calls') = 'ARRAY'
)

SELECT
  trace_id,
  call ->> '$.id' AS call_id,
  min(call ->> '$.function.name') AS tool_name
FROM calls
GROUP BY ALL;

-- The answer of a run is the message of its action `finish`, two spans below it.
CREATE OR REPLACE TEMP TABLE laminar_answers AS
SELECT
  steps.trace_id,
  steps.parent_span_id AS span_id,
  arg_max(finishing.input_value ->> '$.action.message', finishing.key) AS answer
FROM laminar_spans AS finishing
INNER JOIN laminar_spans AS steps
  ON finishing.trace_id = steps.trace_id AND finishing.parent_span_id = steps.span_id
WHERE finishing.name = 'FinishAction'
GROUP BY steps.trace_id, steps.parent_span_id;

-- The thoughts of such an agent; its answer is that of its span.
CREATE OR REPLACE TEMP VIEW laminar_chat AS
SELECT
  key,
  'out' AS direction,
  1 AS message_position,
  json_object(
    'role', 'assistant', 'reasoning_content', output_value -> '$[0].reasoning_content'
  ) AS message
FROM laminar_spans
WHERE
  name = 'acp.completion'
  AND json_type(output_value, '$[0].reasoning_content') = 'VARCHAR';

CREATE OR REPLACE TEMP TABLE laminar_messages AS
FROM chat_parts('laminar_chat');

CREATE OR REPLACE TEMP VIEW laminar_operations AS
SELECT
  laminar_spans.key,
  laminar_spans.operation,
  CASE
    WHEN laminar_spans.operation <> 'agent' THEN NULL
    WHEN laminar_spans.is_openhands THEN coalesce(laminar_spans.acp_server, 'OpenHands')
    ELSE laminar_spans.name
  END AS agent_label,
  CASE
    WHEN laminar_spans.operation = 'tool'
      THEN coalesce(laminar_acp_tools.tool_name, laminar_spans.name)
  END AS tool_name,
  CASE WHEN laminar_spans.operation = 'tool' THEN laminar_spans.call_id END AS call_id,
  CASE
    WHEN laminar_spans.operation <> 'tool' THEN NULL
    WHEN json_type(laminar_spans.input_value, '$.action') = 'OBJECT'
      THEN
        cast(
          json_merge_patch(laminar_spans.input_value -> '$.action', '{"kind": null}') AS VARCHAR
        )
    ELSE laminar_spans.input
  END AS arguments,
  CASE
    WHEN laminar_spans.operation <> 'tool' THEN NULL
    WHEN json_type(laminar_spans.output_value, '$.content') = 'ARRAY'
      THEN array_to_string(laminar_spans.output_value ->> '$.content[*].text', '')
    ELSE result_text(laminar_spans.output)
  END AS result,
  CASE
    WHEN laminar_spans.name = 'acp.completion'
      THEN
        array_to_string(
          CASE
            WHEN json_type(laminar_spans.input_value) = 'ARRAY'
              THEN laminar_spans.input_value ->> '$[*].text'
          END,
          chr(10)
        )
  END AS user_input,
  CASE
    WHEN laminar_spans.operation = 'agent'
      THEN coalesce(laminar_spans.output_value ->> '$[0].content', laminar_answers.answer)
  END AS answer,
  laminar_spans.operation = 'tool'
  AND coalesce(
    laminar_spans.output_value ->> '$.is_error' = 'true'
    OR coalesce(
      laminar_spans.output_value ->> '$.exit_code',
      laminar_spans.output_value ->> '$.metadata.exit_code'
    ) NOT IN ('0', '-1'),
    FALSE
  ) AS failed,
  laminar_spans.attributes['lmnr.association.properties.metadata.acp_model'] AS model,
  laminar_spans.attributes['lmnr.association.properties.session_id'] AS conversation_id,
  laminar_spans.name = 'acp.completion' AS tells_calls
FROM laminar_spans
LEFT JOIN laminar_acp_tools USING (trace_id, call_id)
LEFT JOIN laminar_answers USING (trace_id, span_id);
