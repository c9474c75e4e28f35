-- Parts of the messages that the spans of each model call tell.
--
-- A view, since few columns of few parts are asked for at a time.
--
-- Reads:
--   spoken_parts
--   tellers
-- Columns:
--   model_call        BIGINT
--   run               BIGINT
--   start_ns          BIGINT   Start of the model call.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  text | reasoning | tool_call | tool_call_response.
--   text              VARCHAR  Without outer blanks; NULL if empty.
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR
--   result            VARCHAR
-- Order:
--   none
SELECT
  tellers.model_call,
  tellers.run,
  tellers.start_ns,
  spoken_parts.direction,
  spoken_parts.message_position,
  spoken_parts.part_position,
  spoken_parts.role,
  spoken_parts.part_type,
  spoken_parts.text,
  spoken_parts.tool_name,
  spoken_parts.call_id,
  spoken_parts.arguments,
  spoken_parts.result
FROM spoken_parts
INNER JOIN tellers USING (key)
WHERE CASE spoken_parts.direction WHEN 'in' THEN tellers.hears ELSE tellers.says END;
