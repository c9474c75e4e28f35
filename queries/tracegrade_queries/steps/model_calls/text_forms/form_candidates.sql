-- Texts that may have a framework's form: outputs of models, and texts in the user's name.
--
-- Reads:
--   sent_parts
-- Columns:
--   key               BIGINT   Model span.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR
--   text              VARCHAR
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR
--   result            VARCHAR
--   failed            BOOLEAN
--   is_output_text    BOOLEAN  A text that the model wrote.
-- Order:
--   none
SELECT
  key,
  direction,
  message_position,
  part_position,
  role,
  part_type,
  text,
  tool_name,
  call_id,
  arguments,
  result,
  failed,
  is_output_text
FROM sent_parts
WHERE may_have_form;
