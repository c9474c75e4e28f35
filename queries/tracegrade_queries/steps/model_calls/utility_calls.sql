-- Model calls that serve the program around an agent: they name or sum up the conversation, or say
-- whether a text is safe. What they say is no answer, and what they hear is not the user's.
--
-- Their instructions ask for that; one that a tool was offered to, or that tells a result of one,
-- is the agent's all the same.
--
-- Reads:
--   dialect_messages
--   model_calls
--   model_members
--   model_parts
-- Needs:
--   model_calls
-- Columns:
--   model_call  BIGINT  One row each.
-- Order:
--   none
WITH heard AS (
  SELECT
    model_calls.model_call,
    dialect_messages.text[1:500] AS text
  FROM dialect_messages
  INNER JOIN model_members USING (key)
  INNER JOIN model_calls USING (model_call)
  WHERE
    model_calls.offered_tools IS NULL
    AND dialect_messages.direction = 'in'
    AND dialect_messages.role IN ('system', 'developer')
),

-- Many calls have the same instructions.
texts AS (
  SELECT DISTINCT text
  FROM heard
),

asking AS (
  SELECT text
  FROM texts
  WHERE
    regexp_matches(
      text,
      '(?is)\b(generate|create|write|suggest|provide|give|produce)\b[^.!?]{0,60}\b(title|name)\b'
      || '([^.!?]{0,60}\b(conversation|chat|session|thread)\b|[.!?]?\s*$)'
      || '|\b(summari[sz]e|summary of)\b[^.!?]{0,40}\b(conversation|chat|session|thread)\b'
      || '|\b(classify|decide|check|judge|determine)\b[^.!?]{0,80}'
      || '\b(unsafe|jailbreak|prompt injection|moderation)\b'
    )
),

using_tools AS (
  SELECT model_call
  FROM model_parts
  WHERE
    part_type = 'tool_call_response'
    OR (direction = 'out' AND part_type IN ('tool_call', 'server_tool_call'))
)

SELECT DISTINCT heard.model_call
FROM heard
SEMI JOIN asking USING (text)
ANTI JOIN using_tools USING (model_call);
