-- What model calls said that told nothing of their output, as the next call tells it.
--
-- It is the assistant messages at the end of the next call's input that are more than the call's
-- own input held.
--
-- Reads:
--   model_calls
--   recorded_parts
-- Columns:
--   model_call        BIGINT
--   run               BIGINT
--   start_ns          BIGINT   Start of the model call.
--   direction         VARCHAR  out.
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
WITH telling AS (
  SELECT DISTINCT model_call
  FROM recorded_parts
  WHERE direction = 'out'
),

silent_runs AS (
  SELECT DISTINCT model_calls.run
  FROM model_calls
  ANTI JOIN telling USING (model_call)
),

calls AS (
  SELECT model_calls.*
  FROM model_calls
  SEMI JOIN silent_runs USING (run)
),

heard_messages AS (
  SELECT
    recorded_parts.model_call,
    count(DISTINCT recorded_parts.message_position) FILTER (WHERE recorded_parts.role = 'assistant')
      AS said_before,
    max(recorded_parts.message_position) FILTER (WHERE recorded_parts.role = 'assistant') AS last_said
  FROM recorded_parts
  SEMI JOIN calls USING (model_call)
  WHERE recorded_parts.direction = 'in'
  GROUP BY recorded_parts.model_call
),

ordered AS (
  SELECT
    calls.model_call,
    calls.run,
    calls.start_ns,
    telling.model_call IS NULL AS is_silent,
    coalesce(heard_messages.said_before, 0) AS said_before,
    lead(calls.model_call) OVER running AS next_call,
    lead(heard_messages.said_before) OVER running AS said_then,
    lead(heard_messages.last_said) OVER running AS last_said,
    -- What an earlier call said must not pass for this one's.
    heard_messages.model_call IS NOT NULL
    OR row_number() OVER running = 1 AS is_comparable
  FROM calls
  LEFT JOIN heard_messages USING (model_call)
  LEFT JOIN telling USING (model_call)
  WINDOW running AS (
    PARTITION BY calls.run ORDER BY calls.start_ns, calls.span_id
  )
),

silent AS (
  SELECT *
  FROM ordered
  WHERE is_silent AND is_comparable AND said_then > said_before
),

heard AS (
  SELECT
    silent.model_call AS producer,
    silent.start_ns AS producer_ns,
    silent.last_said,
    recorded_parts.*
  FROM silent
  INNER JOIN recorded_parts ON silent.next_call = recorded_parts.model_call
  WHERE recorded_parts.direction = 'in'
),

starts AS (
  SELECT
    producer,
    coalesce(max(message_position) FILTER (WHERE role <> 'assistant'), -1) AS before_position
  FROM heard
  WHERE message_position < last_said
  GROUP BY producer
)

SELECT
  heard.producer AS model_call,
  heard.run,
  heard.producer_ns AS start_ns,
  'out' AS direction,
  heard.message_position,
  heard.part_position,
  heard.role,
  heard.part_type,
  heard.text,
  heard.tool_name,
  heard.call_id,
  heard.arguments,
  heard.result
FROM heard
LEFT JOIN starts USING (producer)
WHERE
  heard.role = 'assistant'
  AND heard.message_position > coalesce(starts.before_position, -1);
