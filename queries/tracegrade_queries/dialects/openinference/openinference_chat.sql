-- Messages in whole inputs and outputs.
--
-- Reads:
--   openinference_beeai
--   openinference_history
--   openinference_attributes
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW openinference_chat AS
WITH history AS (
  SELECT
    *,
    -- Messages of smolagents, as Python prints them.
    regexp_extract(
      message ->> '$.content',
      '(?s)^ChatMessage\(role=<MessageRole\.\w+: \x27([\w-]+)\x27>, content='
      '\[\{\x27type\x27: \x27text\x27, \x27text\x27: [\x27"](.*)[\x27"]\}\], tool_calls=',
      ['role', 'text']
    ) AS printed
  FROM history_chat('openinference_history')
)

SELECT
  key,
  direction,
  message_position,
  CASE
    WHEN printed.role <> ''
      THEN
        json_object(
          'role', if(printed.role = 'tool-response', 'tool', printed.role),
          'content', regexp_replace(replace(printed.text, '\n', chr(10)), '^Observation:\s*', '')
        )
    ELSE message
  END AS message
FROM history
-- Other texts that Python printed cannot be read.
WHERE
  printed.role <> ''
  OR NOT coalesce(regexp_matches(message ->> '$.content', '^\w+(\(\w+)?=[\x27"<\[]'), FALSE)
UNION ALL
-- Items of Responses.
SELECT
  key,
  'out' AS direction,
  generate_subscripts(from_json(answer -> '$.output', '["JSON"]'), 1) AS message_position,
  unnest(from_json(answer -> '$.output', '["JSON"]')) AS message
FROM openinference_attributes
WHERE json_type(answer, '$.output') = 'ARRAY'
UNION ALL
SELECT
  key,
  'out' AS direction,
  1 AS message_position,
  message
FROM openinference_beeai;
