-- Lists of messages as JSON, in the conventions' form or in a provider's own.
--
-- Reads:
--   bucket_events
--   bucket_spans
-- Order:
--   none
-- Lists that begin with so many equal characters may be of one conversation.
CREATE OR REPLACE TEMP MACRO compared_chars() AS 2000;

-- Whether a list may be of pieces of a stream, which are put together over all of it.
CREATE OR REPLACE TEMP MACRO in_pieces(MESSAGES) AS contains(messages, '"finish_reason"');

-- Whether parts have a provider's form instead of the conventions': Google's parts name no type,
-- and calls that a provider ran have many forms. Inputs repeat them, so only the beginning of an
-- input is examined.
CREATE OR REPLACE TEMP MACRO is_as_sent(DIRECTION, MESSAGES) AS
regexp_matches(
  left(messages, compared_chars()),
  '"parts":\s*\[\s*\{\s*"(text|function_?[cC]all|function_?[rR]esponse|executable_?[cC]ode)"'
)
OR (direction = 'out' AND tells_hosted(messages));

CREATE OR REPLACE TEMP TABLE otel_genai_lists AS
WITH details AS (
  SELECT
    key,
    max(attributes['gen_ai.input.messages']) AS input_messages,
    max(attributes['gen_ai.output.messages']) AS output_messages
  FROM bucket_events
  WHERE name = 'gen_ai.client.inference.operation.details'
  GROUP BY key
),

inputs_outputs AS (
  SELECT
    bucket_spans.key,
    bucket_spans.trace_id,
    bucket_spans.scope_name,
    coalesce(
      bucket_spans.attributes['gen_ai.input.messages'], details.input_messages
    ) AS input_value,
    coalesce(
      bucket_spans.attributes['gen_ai.output.messages'], details.output_messages
    ) AS output_value
  FROM bucket_spans
  LEFT JOIN details USING (key)
),

lists AS (
  SELECT
    key,
    trace_id,
    scope_name,
    'in' AS direction,
    unquoted_json(input_value) AS messages
  FROM inputs_outputs
  UNION ALL
  SELECT
    key,
    trace_id,
    scope_name,
    'out' AS direction,
    unquoted_json(output_value) AS messages
  FROM inputs_outputs
)

SELECT
  *,
  contains(messages, '"parts"') AND NOT is_as_sent(direction, messages) AS has_parts,
  length(messages) AS size,
  CASE WHEN ends_with(messages, '}]') THEN hash(left(messages, compared_chars())) END AS opening
FROM lists
-- Koog hides messages behind a placeholder.
WHERE messages <> 'HIDDEN:non-empty';

-- Messages without parts are as a provider writes them.
CREATE OR REPLACE TEMP VIEW otel_genai_plain AS
SELECT
  key,
  direction,
  0 AS position,
  if(direction = 'in', 'user', 'assistant') AS role,
  messages AS text
FROM otel_genai_lists
WHERE NOT has_parts;
