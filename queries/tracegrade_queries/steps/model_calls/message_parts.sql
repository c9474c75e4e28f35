-- Parts of the messages that each model span received and sent.
--
-- Where several dialects read the messages of one span, the one that finds most parts is taken,
-- the strongest among equals. Text in the ReAct form (`Thought: … Action: … Action Input: …`, then
-- `Observation: …`; DSPy sets headings instead) or with the code of a code agent is split into the
-- thought, requests and answer it holds, unless its span requests tools otherwise. Code that calls
-- no tool stays text.
--
-- Reads:
--   code_calls
--   code_texts
--   dialect_messages
--   operations
--   runs_of_operations
-- Columns:
--   key               BIGINT   Model span.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  text | reasoning | tool_call | tool_call_response.
--   text              VARCHAR  Without outer blanks; NULL if empty.
--   tool_name         VARCHAR
--   call_id           VARCHAR  NULL if empty.
--   arguments         VARCHAR
--   result            VARCHAR
-- Order:
--   none
WITH parts AS (
  SELECT dialect_messages.*
  FROM dialect_messages
  INNER JOIN operations USING (key)
  SEMI JOIN runs_of_operations USING (key)
  WHERE
    operations.operation = 'model'
    AND dialect_messages.part_type IN ('text', 'reasoning', 'tool_call', 'tool_call_response')
),

contested AS (
  SELECT
    key,
    direction
  FROM parts
  GROUP BY key, direction
  HAVING min(precedence) <> max(precedence)
),

counts AS (
  SELECT
    parts.key,
    parts.direction,
    parts.precedence,
    count(*) AS part_count
  FROM parts
  SEMI JOIN contested USING (key, direction)
  GROUP BY parts.key, parts.direction, parts.precedence
),

outdone AS (
  SELECT
    key,
    direction,
    precedence
  FROM counts
  QUALIFY
    row_number() OVER (PARTITION BY key, direction ORDER BY part_count DESC, precedence ASC) > 1
),

chosen AS (
  SELECT
    parts.key,
    parts.direction,
    parts.message_position,
    1_000 * parts.part_position AS part_position,
    parts.role,
    parts.part_type,
    CASE
      WHEN parts.direction = 'out' AND starts_with(parts.text, '[[ ## ')
        THEN headings_as_react(parts.text)
      ELSE parts.text
    END AS text,
    parts.tool_name,
    nullif(parts.call_id, '') AS call_id,
    parts.arguments,
    parts.result,
    parts.direction = 'out' AND parts.part_type = 'text' AS is_output_text
  FROM parts
  ANTI JOIN outdone USING (key, direction, precedence)
),

requesting AS (
  SELECT DISTINCT key
  FROM chosen
  WHERE direction = 'out' AND part_type = 'tool_call'
),

codes AS (
  SELECT
    text,
    thought,
    code
  FROM code_texts
  WHERE code IN (SELECT code_calls.code FROM code_calls)
),

forms AS (
  SELECT
    chosen.*,
    codes.thought,
    codes.code,
    CASE
      WHEN
        chosen.direction = 'in'
        AND chosen.role = 'user'
        AND chosen.part_type = 'text'
        AND starts_with(chosen.text, 'Observation:')
        THEN 'observation'
      WHEN NOT chosen.is_output_text OR requesting.key IS NOT NULL THEN 'plain'
      WHEN codes.text IS NOT NULL THEN 'code'
      WHEN regexp_matches(chosen.text, 'Action:[^\n]*\n\s*Action Input:') THEN 'action'
      WHEN
        regexp_matches(
          chosen.text, '(?s)^\s*(Thought:.*)?Final Answer:|^\s*Thought:.*\n\s*Answer:'
        )
        THEN 'answer'
      ELSE 'plain'
    END AS form
  FROM chosen
  LEFT JOIN requesting USING (key)
  LEFT JOIN codes ON chosen.is_output_text AND chosen.text = codes.text
),

actions AS (
  SELECT
    *,
    regexp_extract(
      text,
      '(?s)^\s*(?:Thought:\s*)?(.*?)\s*Action:\s*([^\n]*?)\s*\n\s*Action Input:\s*'
      '(.*?)\s*(?:\nObservation:.*)?$',
      ['thought', 'action', 'input']
    ) AS fields
  FROM forms
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
  FROM forms
  WHERE form = 'answer'
),

split_parts AS (
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
  FROM forms
  WHERE form = 'plain'
  UNION ALL BY NAME
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
    fields.action AS tool_name,
    fields.input AS arguments
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
    regexp_extract(text, '(?s)^Observation:\s*(.*?)\s*$', 1) AS result
  FROM forms
  WHERE form = 'observation'
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position,
    role,
    'reasoning' AS part_type,
    thought AS text
  FROM forms
  WHERE form = 'code'
  UNION ALL BY NAME
  SELECT
    forms.key,
    forms.direction,
    forms.message_position,
    forms.part_position + code_calls.position AS part_position,
    forms.role,
    'tool_call' AS part_type,
    code_calls.tool_name,
    code_calls.arguments
  FROM forms
  INNER JOIN code_calls USING (code)
  WHERE forms.form = 'code'
)

SELECT * REPLACE (nullif(trim(text), '') AS text)
FROM split_parts;
