-- Tool calls in messages, as indexed keys tell them.
--
-- Reads:
--   bucket_spans
--   traceloop_keys
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE traceloop_requests AS
WITH request_places AS (
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

-- One row for each shape: a join with several would copy all values of a span for each call.
places AS (
  SELECT
    shape,
    list(request_places) AS requests
  FROM request_places
  GROUP BY shape
),

requests AS (
  SELECT
    bucket_spans.key,
    map_values(bucket_spans.attributes) AS told,
    unnest(places.requests) AS place
  FROM bucket_spans
  INNER JOIN places USING (shape)
)

SELECT
  key,
  place.direction,
  place.message_position,
  place.item,
  told[place.call_id] AS call_id,
  told[place.tool_name] AS tool_name,
  told[place.arguments] AS arguments
FROM requests;
