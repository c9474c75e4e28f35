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

-- One row for each shape: a join with several would copy all values of a span for each part.
places AS (
  SELECT
    shape,
    list(item_places) AS items
  FROM item_places
  GROUP BY shape
),

items AS (
  SELECT
    bucket_spans.key,
    map_values(bucket_spans.attributes) AS told,
    unnest(places.items) AS place
  FROM bucket_spans
  INNER JOIN places USING (shape)
  WHERE
    bucket_spans.attributes['openinference.span.kind'] = 'LLM'
    OR bucket_spans.scope_name = 'openinference.instrumentation.claude_agent_sdk'
)

SELECT
  key,
  place.direction,
  place.message_position,
  place.field,
  place.item,
  -- With Claude's Agent SDK a message may be a list of texts.
  if(place.field = 'content', 'text', told[place.type]) AS type,
  told[place.text] AS text,
  told[place.call_id] AS call_id,
  told[place.tool_name] AS tool_name,
  told[place.arguments] AS arguments
FROM items;
