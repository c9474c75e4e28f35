-- Parts of messages that have several, and tool calls, as indexed keys tell them.
--
-- Reads:
--   bucket_spans
--   openinference_keys
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE openinference_items AS
WITH item_places AS (
  SELECT
    shape,
    direction,
    message_position,
    field,
    item,
    min(place) FILTER (WHERE leaf = 'type') AS type,
    min(place) FILTER (WHERE leaf = 'text' OR field = 'content') AS text,
    min(place) FILTER (WHERE leaf = 'id') AS call_id,
    min(place) FILTER (WHERE leaf = 'name') AS tool_name,
    min(place) FILTER (WHERE leaf = 'arguments') AS arguments
  FROM openinference_keys
  WHERE field IN ('content', 'contents', 'tool_calls') AND item IS NOT NULL
  GROUP BY shape, direction, message_position, field, item
),

spans AS NOT MATERIALIZED (
  SELECT
    key,
    shape,
    map_values(attributes) AS told
  FROM bucket_spans
  WHERE
    attributes['openinference.span.kind'] = 'LLM'
    OR scope_name = 'openinference.instrumentation.claude_agent_sdk'
)

SELECT
  spans.key,
  places.direction,
  places.message_position,
  places.field,
  places.item,
  -- With Claude's Agent SDK a message may be a list of texts.
  if(places.field = 'content', 'text', spans.told[places.type]) AS type,
  spans.told[places.text] AS text,
  spans.told[places.call_id] AS call_id,
  spans.told[places.tool_name] AS tool_name,
  spans.told[places.arguments] AS arguments
FROM spans
INNER JOIN item_places AS places USING (shape);
