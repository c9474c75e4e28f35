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
    run,
    model_call,
    start_ns,
    message_position,
    part_position,
    tool_name,
    call_id,
    arguments,
    FALSE AS is_carried
  FROM model_parts
  ANTI JOIN abandoned_requests USING (model_call, message_position, part_position)
  WHERE direction = 'out' AND part_type = 'tool_call' AND role IS DISTINCT FROM 'user'
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
