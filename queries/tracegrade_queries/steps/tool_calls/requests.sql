-- Tool calls as the models requested them, those included with whose results a run began. One that
-- speaks as the user calls the user's tools. What a call that failed asked for, before it was made
-- again, is no request.
--
-- Reads:
--   abandoned_requests
--   canonical
--   carried_requests
--   model_parts
-- Needs:
--   model_parts WHERE direction = 'out' AND part_type = 'tool_call' or carried_requests
-- Columns:
--   request           BIGINT   Number, one row each.
--   run               BIGINT
--   model_call        BIGINT
--   start_ns          BIGINT   Start of the model call; of the run, if it was carried.
--   message_position  BIGINT
--   part_position     BIGINT
--   tool_name         VARCHAR  '' if not sent.
--   call_id           VARCHAR
--   arguments         VARCHAR  Canonical JSON, else as sent.
--   parsed            BOOLEAN
--   is_blank          BOOLEAN  Its arguments are an empty text or null: none, or not recorded.
--   is_carried        BOOLEAN  An earlier run requested it; the model call was given its result.
-- Order:
--   none
WITH told AS (
  SELECT
    model_parts.run,
    model_parts.model_call,
    model_parts.start_ns,
    model_parts.message_position,
    model_parts.part_position,
    model_parts.tool_name,
    model_parts.call_id,
    model_parts.arguments,
    FALSE AS is_carried
  FROM model_parts
  ANTI JOIN abandoned_requests USING (model_call, message_position, part_position)
  WHERE
    model_parts.direction = 'out'
    AND model_parts.part_type = 'tool_call'
    AND model_parts.role IS DISTINCT FROM 'user'
  UNION ALL BY NAME
  SELECT
    *,
    TRUE AS is_carried
  FROM carried_requests
)

SELECT
  row_number() OVER (
    ORDER BY
      told.model_call ASC,
      told.is_carried DESC,
      told.message_position ASC,
      told.part_position ASC
  ) AS request,
  told.run,
  told.model_call,
  told.start_ns,
  told.message_position,
  told.part_position,
  coalesce(told.tool_name, '') AS tool_name,
  told.call_id,
  coalesce(canonical.canonical, told.arguments) AS arguments,
  told.arguments IS NULL OR canonical.canonical IS NOT NULL AS parsed,
  coalesce(regexp_matches(told.arguments, '^\s*(null|"")?\s*$'), FALSE) AS is_blank,
  told.is_carried
FROM told
LEFT JOIN canonical ON told.arguments = canonical.text;
