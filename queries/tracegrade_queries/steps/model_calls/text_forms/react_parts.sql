-- Thoughts, requests, answers and observations of texts in the ReAct form.
--
-- `Thought: … Action: … Action Input: …`, then `Observation: …`; smolagents names tool and
-- arguments in JSON, and reports errors in the user's name.
--
-- Reads:
--   text_forms
-- Needs:
--   text_forms WHERE form IN ('action', 'answer', 'observation')
-- Columns:
--   key               BIGINT   Model span.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  reasoning | text | tool_call | tool_call_response.
--   text              VARCHAR  Reasoning and text only.
--   tool_name         VARCHAR  Tool calls only.
--   arguments         VARCHAR  Tool calls only.
--   result            VARCHAR  Responses only.
--   failed            BOOLEAN  Responses only: smolagents asks to try again.
-- Order:
--   none
WITH actions AS (
  SELECT
    *,
    json_action(text) AS call,
    regexp_extract(
      text,
      '(?s)^\s*(?:Thought:\s*)?(.*?)\s*Action:\s*'
      '(?:\{.*|([^\n]*?)\s*\n\s*Action Input:\s*(.*?)\s*(?:\nObservation:.*)?)$',
      ['thought', 'action', 'input']
    ) AS fields
  FROM text_forms
  WHERE form = 'action'
),

answers AS (
  SELECT
    *,
    regexp_extract(
      text,
      '(?s)^\s*(?:Thought:\s*)?(.*?)\s*(?:Final Answer|\n\s*Answer):\s*(.*?)\s*$',
      ['thought', 'answer']
    ) AS fields
  FROM text_forms
  WHERE form = 'answer'
)

SELECT
  key,
  direction,
  message_position,
  part_position,
  role,
  'reasoning' AS part_type,
  fields.thought AS text
FROM actions
UNION ALL BY NAME
SELECT
  key,
  direction,
  message_position,
  part_position + 1 AS part_position,
  role,
  'tool_call' AS part_type,
  coalesce(call ->> '$.name', fields.action) AS tool_name,
  coalesce(call ->> '$.arguments', fields.input) AS arguments
FROM actions
UNION ALL BY NAME
SELECT
  key,
  direction,
  message_position,
  part_position,
  role,
  'reasoning' AS part_type,
  fields.thought AS text
FROM answers
UNION ALL BY NAME
SELECT
  key,
  direction,
  message_position,
  part_position + 1 AS part_position,
  role,
  'text' AS part_type,
  fields.answer AS text
FROM answers
UNION ALL BY NAME
SELECT
  key,
  direction,
  message_position,
  part_position,
  role,
  'tool_call_response' AS part_type,
  regexp_extract(
    text,
    '(?s)^(?:Call id: \S*\s+)?(?:Observation:)?\s*(.*?)\s*'
    '(?:\nBased on the above, please provide an answer to the following user task:.*)?$',
    1
  ) AS result,
  asks_to_retry(text) AS failed
FROM text_forms
WHERE form = 'observation';
