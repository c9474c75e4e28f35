-- Inputs and outputs of models, for all kinds of spans.
--
-- Reads:
--   openinference_anthropic
--   openinference_beeai
--   openinference_chat
--   openinference_haystack
--   openinference_haystack_parts
--   openinference_hosted
--   openinference_openai_agents
--   openinference_parts
--   openinference_reasoning
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE openinference_messages AS
FROM openinference_parts AS parts
-- These are empty there.
WHERE
  parts.part_type IS DISTINCT FROM 'tool_call_response'
  OR parts.key NOT IN (SELECT openinference_haystack.key FROM openinference_haystack)
UNION ALL BY NAME
FROM openinference_anthropic
UNION ALL BY NAME
FROM openinference_openai_agents
UNION ALL BY NAME
FROM openinference_reasoning
UNION ALL BY NAME
FROM openinference_haystack_parts;

DELETE FROM openinference_messages
WHERE direction = 'out' AND key IN (SELECT openinference_beeai.key FROM openinference_beeai);

INSERT INTO openinference_messages BY NAME
FROM chat_parts('openinference_chat') AS parts
WHERE
  parts.part_type <> 'reasoning'
  OR parts.key NOT IN (
    SELECT openinference_messages.key FROM openinference_messages
    WHERE openinference_messages.part_type = 'reasoning'
  );

-- The whole output holds more about a call than its keys.
DELETE FROM openinference_messages
WHERE
  direction = 'out'
  AND part_type IN ('tool_call', 'server_tool_call', 'server_tool_call_response')
  AND (key, call_id) IN (SELECT (hosted.key, hosted.call_id) FROM openinference_hosted AS hosted);

INSERT INTO openinference_messages BY NAME
FROM openinference_hosted AS hosted
WHERE
  hosted.key NOT IN (
    SELECT openinference_messages.key FROM openinference_messages
    WHERE openinference_messages.part_type = 'server_tool_call'
  );
