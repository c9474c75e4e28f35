-- Tool calls in messages, as indexed keys tell them.
--
-- Reads:
--   bucket_spans
--   traceloop_keys
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE traceloop_requests AS
WITH places AS (
  SELECT
    shape,
    direction,
    message_position,
    item,
    min(place) FILTER (WHERE leaf = 'id') AS call_id,
    min(place) FILTER (WHERE leaf = 'name') AS tool_name,
    min(place) FILTER (WHERE leaf = 'arguments') AS arguments
  FROM traceloop_keys
  -- The latter is LiteLLM's, one for each call.
  WHERE field IN ('tool_calls', 'function_call')
  GROUP BY shape, direction, message_position, item
),

spans AS NOT MATERIALIZED (
  SELECT
    key,
    shape,
    map_values(attributes) AS told
  FROM bucket_spans
)

SELECT
  spans.key,
  places.direction,
  places.message_position,
  places.item,
  spans.told[places.call_id] AS call_id,
  spans.told[places.tool_name] AS tool_name,
  spans.told[places.arguments] AS arguments
FROM spans
INNER JOIN places USING (shape);
