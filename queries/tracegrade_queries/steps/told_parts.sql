-- Parts of the messages that the spans of each model call tell, from the one that tells most.
--
-- Reads:
--   spoken_parts
--   model_members
--   model_calls
--   operations
--   canonical
-- Columns:
--   model_call        BIGINT
--   trajectory_id     VARCHAR
--   start_ns          BIGINT   Start of the model call.
--   direction         VARCHAR  in | out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  text | reasoning | tool_call | tool_call_response.
--   text              VARCHAR  Without outer blanks; NULL if empty.
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR  Canonical JSON, else as sent.
--   parsed            BOOLEAN  The arguments are JSON, or there are none.
--   result            VARCHAR
-- Order:
--   none
WITH counts AS (
  SELECT
    model_members.model_call,
    spoken_parts.direction,
    spoken_parts.key,
    count(*) AS part_count
  FROM spoken_parts
  INNER JOIN model_members USING (key)
  GROUP BY model_members.model_call, spoken_parts.direction, spoken_parts.key
),

chosen AS (
  SELECT
    counts.model_call,
    counts.direction,
    arg_max(counts.key, (counts.part_count, -operations.start_ns, operations.span_id)) AS key
  FROM counts
  INNER JOIN operations USING (key)
  GROUP BY counts.model_call, counts.direction
)

SELECT
  chosen.model_call,
  model_calls.trajectory_id,
  model_calls.start_ns,
  spoken_parts.direction,
  spoken_parts.message_position,
  spoken_parts.part_position,
  spoken_parts.role,
  spoken_parts.part_type,
  nullif(trim(spoken_parts.text), '') AS text,
  spoken_parts.tool_name,
  spoken_parts.call_id,
  coalesce(canonical.canonical, spoken_parts.arguments) AS arguments,
  spoken_parts.arguments IS NULL OR canonical.canonical IS NOT NULL AS parsed,
  spoken_parts.result
FROM chosen
INNER JOIN spoken_parts USING (key, direction)
INNER JOIN model_calls USING (model_call)
LEFT JOIN canonical ON spoken_parts.arguments = canonical.text;
