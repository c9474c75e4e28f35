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

-- One row for each shape: a join with several would copy all values of a span for each message.
places AS (
  SELECT
    shape,
    list(message_places) AS messages
  FROM message_places
  GROUP BY shape
),

messages AS (
  SELECT
    bucket_spans.key,
    bucket_spans.scope_name,
    map_values(bucket_spans.attributes) AS told,
    unnest(places.messages) AS place
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
  -- The role `tool-call` of smolagents repeats what the model requested.
  CASE
    -- With Anthropic's client, the user's message that answers a call.
    WHEN told[place.call_id] IS NOT NULL THEN 'tool'
    WHEN told[place.role] IN ('ai', 'model') THEN 'assistant'
    WHEN told[place.role] = 'human' THEN 'user'
    WHEN told[place.role] IN ('function', 'tool-response') THEN 'tool'
    ELSE told[place.role]
  END AS role,
  CASE
    -- AutoGen's parts, as a list in JSON.
    WHEN
      scope_name = 'openinference.instrumentation.autogen_agentchat'
      AND starts_with(told[place.content], '["')
      THEN
        coalesce(
          array_to_string(try_cast(try_cast(told[place.content] AS JSON) AS VARCHAR[]), chr(10)),
          told[place.content]
        )
    ELSE told[place.content]
  END AS content,
  told[place.name] AS name,
  told[place.call_id] AS call_id
FROM messages;
