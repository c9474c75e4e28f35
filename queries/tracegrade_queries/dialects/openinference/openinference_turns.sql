-- Messages of model calls, from indexed keys.
--
-- Reads:
--   bucket_spans
--   openinference_keys
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW openinference_turn_positions AS
SELECT
  shape,
  direction,
  message_position,
  min(position) FILTER (WHERE field = 'role') AS role,
  min(position) FILTER (WHERE field = 'content' AND item IS NULL) AS content,
  min(position) FILTER (WHERE field = 'name') AS name,
  min(position) FILTER (WHERE field = 'tool_call_id') AS call_id
FROM openinference_keys
GROUP BY shape, direction, message_position;

CREATE OR REPLACE TEMP TABLE openinference_turns AS
WITH messages AS (
  SELECT
    key,
    scope_name,
    values,
    unnest(position_rows) AS positions
  FROM indexed_values('bucket_spans', 'openinference_turn_positions')
  WHERE
    attributes['openinference.span.kind'] = 'LLM'
    OR scope_name = 'openinference.instrumentation.claude_agent_sdk'
)

SELECT
  key,
  positions.direction,
  positions.message_position,
  -- The role `tool-call` of smolagents repeats what the model requested.
  CASE
    -- With Anthropic's client, the user's message that answers a call.
    WHEN values[positions.call_id] IS NOT NULL THEN 'tool'
    WHEN values[positions.role] IN ('ai', 'model') THEN 'assistant'
    WHEN values[positions.role] = 'human' THEN 'user'
    WHEN values[positions.role] IN ('function', 'tool-response') THEN 'tool'
    ELSE values[positions.role]
  END AS role,
  CASE
    -- AutoGen's parts, as a list in JSON.
    WHEN
      scope_name = 'openinference.instrumentation.autogen_agentchat'
      AND starts_with(values[positions.content], '["')
      THEN
        coalesce(
          array_to_string(
            try_cast(try_cast(values[positions.content] AS JSON) AS VARCHAR[]), chr(10)
          ),
          values[positions.content]
        )
    ELSE values[positions.content]
  END AS content,
  values[positions.name] AS name,
  values[positions.call_id] AS call_id
FROM messages;
