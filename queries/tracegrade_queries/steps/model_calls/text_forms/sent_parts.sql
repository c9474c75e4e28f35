-- Parts of messages as the chosen dialect of each span and direction reads them.
--
-- Most of them are history without a framework's form. The view does not store them: they go into
-- `message_parts` and nowhere in between.
--
-- Reads:
--   dialect_messages
--   message_dialects
-- Needs:
--   message_dialects
-- As:
--   view
-- Columns:
--   key               BIGINT   Model span.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT   Leaves room for parts that a text is split into.
--   role              VARCHAR
--   part_type         VARCHAR  text | reasoning | tool_call | tool_call_response |
--                              server_tool_call | server_tool_call_response.
--   text              VARCHAR  DSPy's headings are written as ReAct writes them.
--   tool_name         VARCHAR
--   call_id           VARCHAR  NULL if empty.
--   arguments         VARCHAR
--   result            VARCHAR
--   failed            BOOLEAN  Responses only: the source states that the call failed.
--   is_output_text    BOOLEAN  A text that the model wrote.
--   may_have_form     BOOLEAN  A framework may have put the text into a form of its own.
-- Order:
--   none
SELECT
  parts.key,
  parts.direction,
  parts.message_position,
  -- If calls have a field of their own, it also holds calls that the provider ran, although the
  -- text was written after them.
  if(
    parts.direction = 'out'
    AND parts.part_position > position_gap()
    AND (parts.part_type = 'server_tool_call' OR is_hosted_id(parts.call_id)),
    parts.part_position - position_gap(),
    1_000 * parts.part_position
  ) AS part_position,
  parts.role,
  -- Some write a provider's call like any other: its id identifies it.
  if(
    parts.part_type = 'tool_call' AND is_hosted_id(parts.call_id),
    'server_tool_call',
    parts.part_type
  ) AS part_type,
  CASE
    WHEN parts.direction = 'out' AND starts_with(parts.text, '[[ ## ')
      THEN headings_as_react(parts.text)
    ELSE parts.text
  END AS text,
  -- CrewAI writes these as Python prints them.
  if(
    parts.part_type = 'tool_call' AND is_hosted_id(parts.call_id),
    regexp_replace(parts.tool_name, '^(\w+)_call$', '\1'),
    without_quotes(parts.tool_name)
  ) AS tool_name,
  nullif(parts.call_id, '') AS call_id,
  if(
    without_quotes(parts.tool_name) <> parts.tool_name,
    without_quotes(parts.arguments),
    parts.arguments
  ) AS arguments,
  parts.result,
  parts.failed,
  parts.direction = 'out' AND parts.part_type = 'text' AS is_output_text,
  coalesce(
    CASE parts.direction
      WHEN 'in' THEN parts.role = 'user' OR starts_with(parts.text, '[[ ## ')
      ELSE parts.part_type = 'text'
    END,
    FALSE
  ) AS may_have_form
FROM dialect_messages AS parts
INNER JOIN message_dialects USING (key, direction, precedence)
-- Two lists: one of six is planned as a join, in each dialect.
WHERE
  parts.part_type IN ('text', 'reasoning', 'tool_call', 'tool_call_response')
  OR parts.part_type IN ('server_tool_call', 'server_tool_call_response');
