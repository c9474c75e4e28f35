-- Texts that DSPy repeats to its model: the request, and the last observation.
--
-- Reads:
--   text_forms
-- Needs:
--   text_forms WHERE form = 'headings'
-- Columns:
--   key               BIGINT   Model span.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  text | tool_call_response.
--   text              VARCHAR  The request.
--   result            VARCHAR  Responses only.
-- Order:
--   none
SELECT
  key,
  direction,
  message_position,
  part_position,
  role,
  part_type,
  regexp_replace(
    regexp_extract(text, '(?s)^(.*?)\s*\[\[ ## trajectory ## \]\]', 1),
    '\[\[ ## \w+ ## \]\]\s*', '', 'g'
  ) AS text
FROM text_forms
WHERE form = 'headings'
UNION ALL BY NAME
SELECT
  key,
  direction,
  message_position,
  part_position + 1 AS part_position,
  role,
  'tool_call_response' AS part_type,
  regexp_extract(
    text,
    '(?s)^.*\[\[ ## observation_\d+ ## \]\]\n?(.*?)\s*'
    '(?:\nRespond with the corresponding output fields.*)?$',
    1
  ) AS result
FROM text_forms
WHERE form = 'headings' AND contains(text, '[[ ## observation_0 ## ]]');
