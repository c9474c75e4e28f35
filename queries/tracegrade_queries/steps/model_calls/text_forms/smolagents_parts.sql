-- Tasks that smolagents sends to its models, and errors that follow them.
--
-- Some clients join messages of one role: the error of the first call then follows the task.
--
-- Reads:
--   text_forms
-- Needs:
--   text_forms WHERE form = 'task'
-- Columns:
--   key               BIGINT   Model span.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  text | tool_call_response.
--   text              VARCHAR  Tasks only.
--   result            VARCHAR  Responses only: the error.
-- Order:
--   none
WITH tasks AS (
  SELECT
    *,
    regexp_extract(
      text,
      '(?s)^' || task_heading() || '\s*(.*?)\s*'
      '(?:\n(Error:\n.*' || regexp_escape(retry_notice()) || '.*?)\s*)?$',
      ['task', 'error']
    ) AS fields
  FROM text_forms
  WHERE form = 'task'
)

SELECT
  key,
  direction,
  message_position,
  part_position,
  role,
  part_type,
  fields.task AS text
FROM tasks
UNION ALL BY NAME
SELECT
  key,
  direction,
  message_position,
  part_position + 1 AS part_position,
  role,
  'tool_call_response' AS part_type,
  fields.error AS result
FROM tasks
WHERE fields.error <> '';
