-- Messages of model calls, as indexed keys tell them.
--
-- Reads:
--   bucket_spans
--   openinference_keys
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE openinference_turns AS
WITH message_places AS (
  SELECT
    shape,
    direction,
    message_position,
    min(place) FILTER (WHERE field = 'role') AS role,
    min(place) FILTER (WHERE field = 'content' AND item IS NULL) AS content,
    min(place) FILTER (WHERE field = 'name') AS name,
    min(place) FILTER (WHERE field = 'tool_call_id') AS call_id
  FROM openinference_keys
  GROUP BY shape, direction, message_position
),

spans AS NOT MATERIALIZED (
  SELECT
    key,
    shape,
    scope_name,
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
  -- The role `tool-call` of smolagents repeats what the model requested.
  CASE
    -- With Anthropic's client, the user's message that answers a call.
    WHEN spans.told[places.call_id] IS NOT NULL THEN 'tool'
    WHEN spans.told[places.role] IN ('ai', 'model') THEN 'assistant'
    WHEN spans.told[places.role] = 'human' THEN 'user'
    WHEN spans.told[places.role] IN ('function', 'tool-response') THEN 'tool'
    ELSE spans.told[places.role]
  END AS role,
  CASE
    -- AutoGen's parts, as a list in JSON.
    WHEN
      spans.scope_name = 'openinference.instrumentation.autogen_agentchat'
      AND starts_with(spans.told[places.content], '["')
      THEN
        coalesce(
          array_to_string(
            try_cast(try_cast(spans.told[places.content] AS JSON) AS VARCHAR[]), chr(10)
          ),
          spans.told[places.content]
        )
    ELSE spans.told[places.content]
  END AS content,
  spans.told[places.name] AS name,
  spans.told[places.call_id] AS call_id
FROM spans
INNER JOIN message_places AS places USING (shape);
