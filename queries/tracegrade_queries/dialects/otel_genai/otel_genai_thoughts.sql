-- Thoughts of a model call in an attribute of their own, as Copilot Chat writes them.
--
-- Reads:
--   bucket_spans
--   shapes
-- Needs:
--   shapes WHERE list_contains(names, 'copilot_chat.reasoning_content')
-- Columns:
--   key               BIGINT   Span.
--   direction         VARCHAR  out.
--   message_position  INTEGER
--   part_position     INTEGER
--   role              VARCHAR
--   part_type         VARCHAR  reasoning.
--   text              VARCHAR
-- Order:
--   none
WITH thinking AS (
  SELECT shape
  FROM shapes
  WHERE list_contains(names, 'copilot_chat.reasoning_content')
)

SELECT
  key,
  'out' AS direction,
  0 AS message_position,
  1 AS part_position,
  'assistant' AS role,
  'reasoning' AS part_type,
  attributes['copilot_chat.reasoning_content'] AS text
FROM bucket_spans
WHERE
  shape IN (SELECT thinking.shape FROM thinking)
  -- In place of thoughts that the provider encrypted.
  AND attributes['copilot_chat.reasoning_content'] <> '[encrypted]';
