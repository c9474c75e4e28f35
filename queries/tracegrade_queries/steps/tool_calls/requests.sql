-- Tool calls as the models requested them. One that speaks as the user calls the user's tools.
--
-- Reads:
--   canonical
--   model_parts
-- Needs:
--   model_parts WHERE direction = 'out' AND part_type = 'tool_call'
-- Columns:
--   request           BIGINT   Number, one row each.
--   run               BIGINT
--   model_call        BIGINT
--   start_ns          BIGINT   Start of the model call.
--   message_position  BIGINT
--   part_position     BIGINT
--   tool_name         VARCHAR  '' if not sent.
--   call_id           VARCHAR
--   arguments         VARCHAR  Canonical JSON, else as sent.
--   parsed            BOOLEAN
--   is_blank          BOOLEAN  Its arguments are an empty text or null: none, or not recorded.
-- Order:
--   none
SELECT
  row_number() OVER (
    ORDER BY model_parts.model_call, model_parts.message_position, model_parts.part_position
  ) AS request,
  model_parts.run,
  model_parts.model_call,
  model_parts.start_ns,
  model_parts.message_position,
  model_parts.part_position,
  coalesce(model_parts.tool_name, '') AS tool_name,
  model_parts.call_id,
  coalesce(canonical.canonical, model_parts.arguments) AS arguments,
  model_parts.arguments IS NULL OR canonical.canonical IS NOT NULL AS parsed,
  coalesce(regexp_matches(model_parts.arguments, '^\s*(null|"")?\s*$'), FALSE) AS is_blank
FROM model_parts
LEFT JOIN canonical ON model_parts.arguments = canonical.text
WHERE
  model_parts.direction = 'out'
  AND model_parts.part_type = 'tool_call'
  AND model_parts.role IS DISTINCT FROM 'user';
