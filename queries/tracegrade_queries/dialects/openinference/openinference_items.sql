-- Parts of messages with several parts, and tool calls, from indexed keys.
--
-- Reads:
--   bucket_spans
--   openinference_keys
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW openinference_item_positions AS
SELECT
  shape,
  direction,
  message_position,
  field,
  item,
  min(position) FILTER (WHERE leaf = 'type') AS type,
  min(position) FILTER (WHERE leaf = 'text' OR field = 'content') AS text,
  -- BeeAI in Python writes the id of a result's call with the result.
  min(position) FILTER (WHERE leaf IN ('id', 'tool_call_id')) AS call_id,
  min(position) FILTER (WHERE leaf = 'name') AS tool_name,
  min(position) FILTER (WHERE leaf = 'arguments') AS arguments
FROM openinference_keys
WHERE field IN ('content', 'contents', 'tool_calls') AND item IS NOT NULL
GROUP BY shape, direction, message_position, field, item;

CREATE OR REPLACE TEMP TABLE openinference_items AS
WITH items AS (
  SELECT
    key,
    values,
    unnest(position_rows) AS positions
  FROM indexed_values('bucket_spans', 'openinference_item_positions')
  WHERE
    attributes['openinference.span.kind'] = 'LLM'
    OR scope_name = 'openinference.instrumentation.claude_agent_sdk'
)

SELECT
  key,
  positions.direction,
  positions.message_position,
  positions.field,
  positions.item,
  -- With Claude's Agent SDK a message may be a list of texts.
  if(positions.field = 'content', 'text', values[positions.type]) AS type,
  values[positions.text] AS text,
  values[positions.call_id] AS call_id,
  values[positions.tool_name] AS tool_name,
  values[positions.arguments] AS arguments
FROM items;
