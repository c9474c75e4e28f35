-- Inputs and outputs of models, by part: each part is read from the first list that contains it.
--
-- Reads:
--   otel_genai_grounded
--   otel_genai_hosted
--   otel_genai_parts
--   otel_genai_plain_parts
--   otel_genai_references
--   otel_genai_thoughts
-- Order:
--   none
CREATE OR REPLACE TEMP VIEW otel_genai_messages AS
SELECT
  consisting.key,
  parts.direction,
  consisting.messages_before + parts.message_position AS message_position,
  parts.part_position,
  parts.role,
  parts.part_type,
  parts.text,
  parts.tool_name,
  parts.call_id,
  parts.arguments,
  parts.result,
  parts.failed
FROM otel_genai_references AS consisting
INNER JOIN otel_genai_parts AS parts
  ON consisting.source_key = parts.key AND consisting.direction = parts.direction
UNION ALL BY NAME
SELECT
  consisting.key,
  hosted.direction,
  consisting.messages_before + hosted.message_position AS message_position,
  hosted.part_position,
  hosted.role,
  hosted.part_type,
  hosted.tool_name,
  hosted.call_id,
  hosted.arguments,
  hosted.result,
  hosted.failed
FROM otel_genai_references AS consisting
INNER JOIN otel_genai_hosted AS hosted
  ON consisting.source_key = hosted.key AND consisting.direction = hosted.direction
UNION ALL BY NAME
FROM otel_genai_grounded
UNION ALL BY NAME
FROM otel_genai_thoughts
UNION ALL BY NAME
FROM otel_genai_plain_parts;
