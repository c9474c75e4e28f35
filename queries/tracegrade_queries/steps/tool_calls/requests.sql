-- Tool calls as the models requested them, including calls whose results a run began with.
--
-- A model that speaks as the user calls the user's tools. The output of a call that failed and was
-- made again is not a request.
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
WITH stated AS (
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
      stated.model_call ASC,
      stated.is_carried DESC,
      stated.message_position ASC,
      stated.part_position ASC
  ) AS request,
  stated.run,
  stated.model_call,
  stated.start_ns,
  stated.message_position,
  stated.part_position,
  coalesce(stated.tool_name, '') AS tool_name,
  stated.call_id,
  coalesce(canonical.canonical, stated.arguments) AS arguments,
  stated.arguments IS NULL OR canonical.canonical IS NOT NULL AS parsed,
  coalesce(regexp_matches(stated.arguments, '^\s*(null|"")?\s*$'), FALSE) AS is_blank,
  stated.is_carried
FROM stated
LEFT JOIN canonical ON stated.arguments = canonical.text;
