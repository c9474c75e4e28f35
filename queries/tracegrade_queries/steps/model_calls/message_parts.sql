-- Parts of the messages that each model span received and sent.
--
-- Texts in the form of a framework are split into the thoughts, requests and answers that they
-- hold (`text_forms`); other texts are unchanged.
--
-- Reads:
--   code_parts
--   dspy_parts
--   react_parts
--   sent_parts
--   smolagents_parts
--   text_forms
-- Needs:
--   text_forms or code_parts or dspy_parts or react_parts or smolagents_parts or sent_parts
-- Columns:
--   key               BIGINT   Model span.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  text | reasoning | code | tool_call | tool_call_response |
--                              server_tool_call | server_tool_call_response.
--   text              VARCHAR  Without outer blanks; NULL if empty, and of what a system says.
--   tool_name         VARCHAR
--   call_id           VARCHAR  NULL if empty.
--   arguments         VARCHAR
--   result            VARCHAR
--   failed            BOOLEAN  Responses only: the source states that the call failed.
-- Order:
--   none
WITH split_parts AS (
  SELECT
    key,
    direction,
    message_position,
    part_position,
    role,
    part_type,
    -- The system text is long, repeated in each call, and not needed.
    if(direction = 'in' AND role = 'system', NULL, text) AS text,
    tool_name,
    call_id,
    arguments,
    result,
    failed
  FROM sent_parts
  WHERE NOT may_have_form
  UNION ALL BY NAME
  SELECT
    key,
    direction,
    message_position,
    part_position,
    if(form = 'prompt', 'system', role) AS role,
    part_type,
    if(form = 'plain' AND direction = 'in' AND role = 'user', crew_task(text), text) AS text,
    if(form = 'plain', tool_name, NULL) AS tool_name,
    if(form = 'plain', call_id, NULL) AS call_id,
    if(form = 'plain', arguments, NULL) AS arguments,
    if(form = 'plain', result, NULL) AS result,
    if(form = 'plain', failed, NULL) AS failed
  FROM text_forms
  WHERE form IN ('plain', 'prompt')
  UNION ALL BY NAME
  FROM react_parts
  UNION ALL BY NAME
  FROM smolagents_parts
  UNION ALL BY NAME
  FROM dspy_parts
  UNION ALL BY NAME
  FROM code_parts
)

SELECT * REPLACE (nullif(without_blanks(text), '') AS text)
FROM split_parts;
