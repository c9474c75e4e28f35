-- What models received and said, of all kinds.
--
-- Reads:
--   openinference_anthropic
--   openinference_chat
--   openinference_openai_agents
--   openinference_parts
--   openinference_reasoning
-- Order:
--   none
CREATE OR REPLACE TEMP TABLE openinference_messages AS
FROM openinference_parts
UNION ALL BY NAME
FROM openinference_anthropic
UNION ALL BY NAME
FROM openinference_openai_agents
UNION ALL BY NAME
FROM openinference_reasoning;

INSERT INTO openinference_messages BY NAME
FROM chat_parts('openinference_chat') AS parts
WHERE
  parts.part_type <> 'reasoning'
  OR parts.key NOT IN (
    SELECT openinference_messages.key FROM openinference_messages
    WHERE openinference_messages.part_type = 'reasoning'
  );
