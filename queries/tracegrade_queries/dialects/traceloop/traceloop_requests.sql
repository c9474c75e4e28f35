-- Tool calls in messages, as indexed keys tell them, and spans below those of model calls.
--
-- Reads:
--   bucket_spans
--   traceloop_keys
-- Order:
--   none
-- Whether a span is a tool call that a model requested: AgentOps, which began as a copy of
-- OpenLLMetry, writes such ones below the span of the model call.
CREATE OR REPLACE TEMP MACRO is_request(SCOPE_NAME, ATTRIBUTES) AS
starts_with(scope_name, 'agentops.instrumentation.providers.')
AND attributes['tool.call.id'] IS NOT NULL;

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
    bucket_spans.scope_name,
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
  if(is_item_id(scope_name, told[place.call_id]), NULL, told[place.call_id]) AS call_id,
  told[place.tool_name] AS tool_name,
  told[place.arguments] AS arguments
FROM requests
UNION ALL
SELECT
  models.key,
  'out' AS direction,
  0 AS message_position,
  row_number() OVER (PARTITION BY models.key ORDER BY calls.start_ns, calls.span_id) AS item,
  calls.attributes['tool.call.id'] AS call_id,
  calls.attributes['tool.name'] AS tool_name,
  calls.attributes['tool.parameters'] AS arguments
FROM bucket_spans AS calls
INNER JOIN bucket_spans AS models
  ON calls.trace_id = models.trace_id AND calls.parent_span_id = models.span_id
WHERE is_request(calls.scope_name, calls.attributes);
