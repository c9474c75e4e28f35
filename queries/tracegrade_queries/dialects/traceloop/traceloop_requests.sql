-- Tool calls in messages, from indexed keys, and from spans below those of model calls.
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

CREATE OR REPLACE TEMP VIEW traceloop_request_positions AS
SELECT
  shape,
  direction,
  message_position,
  item,
  min(position) FILTER (WHERE leaf = 'id') AS call_id,
  min(position) FILTER (WHERE leaf = 'name') AS tool_name,
  min(position) FILTER (WHERE leaf = 'arguments') AS arguments
FROM traceloop_keys
-- LiteLLM writes such spans, one for each call.
WHERE field IN ('tool_calls', 'function_call')
GROUP BY shape, direction, message_position, item;

CREATE OR REPLACE TEMP TABLE traceloop_requests AS
WITH requests AS (
  SELECT
    key,
    scope_name,
    values,
    unnest(position_rows) AS positions
  FROM indexed_values('bucket_spans', 'traceloop_request_positions')
)

SELECT
  key,
  positions.direction,
  positions.message_position,
  positions.item,
  if(
    is_item_id(scope_name, values[positions.call_id]), NULL, values[positions.call_id]
  ) AS call_id,
  values[positions.tool_name] AS tool_name,
  values[positions.arguments] AS arguments
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
