-- Parts of messages from indexed keys, with corrections for single frameworks.
--
-- Reads:
--   bucket_spans
--   openinference_items
--   openinference_turns
-- Order:
--   none
-- The text below the headings of smolagents; few texts have any.
CREATE OR REPLACE TEMP MACRO without_headings(RESULT) AS
if(
  starts_with(result, 'Call id: ') OR starts_with(result, 'Observation:'),
  regexp_replace(result, '^(Call id: \S*\s*)?(Observation:\s*)?', ''),
  result
);

CREATE OR REPLACE TEMP VIEW openinference_parts AS
-- Calls are recorded here, and by some versions as items of the content as well.
WITH requesting AS (
  SELECT DISTINCT
    key,
    direction,
    message_position
  FROM openinference_items
  WHERE field = 'tool_calls'
),

-- Some write a message's text both as `content` and as the only item of `contents`.
item_texts AS (
  SELECT
    key,
    direction,
    message_position,
    item,
    text
  FROM openinference_items
  WHERE field = 'contents' AND type = 'text'
),

-- Texts are put in order message by message, which takes long; most have one.
several AS (
  SELECT
    key,
    direction,
    message_position
  FROM item_texts
  GROUP BY key, direction, message_position
  HAVING count(*) > 1
),

itemized AS (
  SELECT
    item_texts.key,
    item_texts.direction,
    item_texts.message_position,
    item_texts.text
  FROM item_texts
  ANTI JOIN several USING (key, direction, message_position)
  UNION ALL
  SELECT
    item_texts.key,
    item_texts.direction,
    item_texts.message_position,
    string_agg(item_texts.text, chr(10) ORDER BY item_texts.item) AS text
  FROM item_texts
  SEMI JOIN several USING (key, direction, message_position)
  GROUP BY item_texts.key, item_texts.direction, item_texts.message_position
),

-- smolagents writes a result as text after `Call id: …`. Its code agents see results of whole
-- pieces of code, whose calls have no id.
coding AS (
  SELECT DISTINCT itemized.key
  FROM itemized
  INNER JOIN openinference_turns AS messages USING (key, direction, message_position)
  WHERE messages.role = 'tool-call' AND contains(itemized.text, '''python_interpreter''')
),

-- smolagents writes reasoning as one more text; the model's text is in the raw output.
smolagents AS (
  SELECT
    key,
    coalesce(try_cast(attributes['output.value'] AS JSON) ->> '$.content', '') AS content
  FROM bucket_spans
  WHERE scope_name = 'openinference.instrumentation.smolagents'
),

results AS (
  SELECT
    key,
    direction,
    message_position,
    item,
    text,
    call_id
  FROM openinference_items
  WHERE field = 'contents' AND type = 'text' AND call_id IS NOT NULL
),

-- These instrumentations leave out empty arguments; for others, missing arguments are unknown.
terse AS (
  SELECT key
  FROM bucket_spans
  WHERE
    scope_name IN (
      'openinference.instrumentation.openai_agents', 'openinference.instrumentation.langchain'
    )
    AND NOT dropped
)

SELECT
  messages.key,
  messages.direction,
  messages.message_position,
  0 AS part_position,
  messages.role,
  'tool_call_response' AS part_type,
  messages.name AS tool_name,
  coalesce(
    messages.call_id,
    CASE
      WHEN coding.key IS NULL
        THEN nullif(regexp_extract(itemized.text, '^Call id: (\S+)', 1), '')
    END
  ) AS call_id,
  result_text(without_headings(coalesce(messages.content, itemized.text))) AS result,
  asks_to_retry(coalesce(messages.content, itemized.text)) AS failed
FROM openinference_turns AS messages
LEFT JOIN itemized USING (key, direction, message_position)
LEFT JOIN coding USING (key)
ANTI JOIN results USING (key, direction, message_position)
WHERE messages.role = 'tool'
UNION ALL BY NAME
SELECT
  results.key,
  results.direction,
  results.message_position,
  results.item AS part_position,
  messages.role,
  'tool_call_response' AS part_type,
  messages.name AS tool_name,
  results.call_id,
  result_text(results.text) AS result
FROM results
INNER JOIN openinference_turns AS messages USING (key, direction, message_position)
WHERE messages.role = 'tool'
UNION ALL BY NAME
SELECT
  messages.key,
  messages.direction,
  messages.message_position,
  0 AS part_position,
  messages.role,
  'text' AS part_type,
  messages.content AS text
FROM openinference_turns AS messages
ANTI JOIN itemized USING (key, direction, message_position)
WHERE messages.content IS NOT NULL AND coalesce(messages.role, '') NOT IN ('tool', 'tool-call')
UNION ALL BY NAME
SELECT
  items.key,
  items.direction,
  items.message_position,
  CASE
    WHEN items.direction = 'out' AND items.text <> smolagents.content THEN -1
    ELSE 1 + items.item
  END AS part_position,
  messages.role,
  CASE
    WHEN items.direction = 'out' AND items.text <> smolagents.content THEN 'reasoning'
    WHEN items.type = 'tool_use' THEN 'tool_call'
    ELSE items.type
  END AS part_type,
  items.text,
  items.tool_name,
  items.call_id,
  items.arguments
FROM openinference_items AS items
INNER JOIN openinference_turns AS messages USING (key, direction, message_position)
LEFT JOIN smolagents USING (key)
LEFT JOIN requesting USING (key, direction, message_position)
WHERE
  items.field IN ('content', 'contents')
  AND coalesce(messages.role, '') NOT IN ('tool', 'tool-call')
  AND (items.type IS DISTINCT FROM 'tool_use' OR requesting.key IS NULL)
UNION ALL BY NAME
SELECT
  items.key,
  items.direction,
  items.message_position,
  -- Calls that a provider ran come before the text, whose position is 0 here.
  if(is_hosted_id(items.call_id), -1, 1) * position_gap() + items.item AS part_position,
  messages.role,
  'tool_call' AS part_type,
  items.tool_name,
  items.call_id,
  coalesce(items.arguments, CASE WHEN terse.key IS NOT NULL THEN '{}' END) AS arguments
FROM openinference_items AS items
INNER JOIN openinference_turns AS messages USING (key, direction, message_position)
LEFT JOIN terse USING (key)
WHERE items.field = 'tool_calls';
