-- Output of model calls whose spans recorded none, recovered from the input of the next call.
--
-- It consists of the assistant messages at the end of the next call's input that were not in the
-- call's own input.
--
-- Reads:
--   model_calls
--   recorded_parts
-- Needs:
--   model_calls WHERE model_call NOT IN (SELECT model_call FROM recorded_parts WHERE
--     direction = 'out')
-- Columns:
--   model_call        BIGINT
--   run               BIGINT
--   start_ns          BIGINT   Start of the model call.
--   direction         VARCHAR  out.
--   message_position  BIGINT
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  text | reasoning | code | tool_call | tool_call_response |
--                              server_tool_call | server_tool_call_response.
--   text              VARCHAR  Without outer blanks; NULL if empty.
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR
--   result            VARCHAR
--   failed            BOOLEAN  Responses only: the source states that the call failed.
-- Order:
--   none
WITH recording AS (
  SELECT DISTINCT model_call
  FROM recorded_parts
  WHERE direction = 'out'
),

silent_runs AS (
  SELECT DISTINCT model_calls.run
  FROM model_calls
  ANTI JOIN recording USING (model_call)
),

calls AS (
  SELECT model_calls.*
  FROM model_calls
  SEMI JOIN silent_runs USING (run)
),

input_messages AS (
  SELECT
    recorded_parts.model_call,
    count(DISTINCT recorded_parts.message_position) FILTER (
      WHERE recorded_parts.role = 'assistant'
    )
      AS assistant_messages,
    max(recorded_parts.message_position) FILTER (WHERE recorded_parts.role = 'assistant')
      AS last_assistant
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
    recording.model_call IS NULL AS is_silent,
    coalesce(input_messages.assistant_messages, 0) AS assistant_messages,
    lead(calls.model_call) OVER running AS next_call,
    lead(input_messages.assistant_messages) OVER running AS next_assistant_messages,
    lead(input_messages.last_assistant) OVER running AS last_assistant,
    -- The output of an earlier call must not be taken for this one's.
    input_messages.model_call IS NOT NULL
    OR row_number() OVER running = 1 AS is_comparable
  FROM calls
  LEFT JOIN input_messages USING (model_call)
  LEFT JOIN recording USING (model_call)
  WINDOW running AS (
    PARTITION BY calls.run ORDER BY calls.start_ns, calls.span_id
  )
),

silent AS (
  SELECT *
  FROM ordered
  WHERE is_silent AND is_comparable AND next_assistant_messages > assistant_messages
),

next_input AS (
  SELECT
    silent.model_call AS producer,
    silent.start_ns AS producer_ns,
    silent.last_assistant,
    recorded_parts.*
  FROM silent
  INNER JOIN recorded_parts ON silent.next_call = recorded_parts.model_call
  WHERE recorded_parts.direction = 'in'
),

starts AS (
  SELECT
    producer,
    coalesce(max(message_position) FILTER (WHERE role <> 'assistant'), -1) AS before_position
  FROM next_input
  WHERE message_position < last_assistant
  GROUP BY producer
)

SELECT
  next_input.producer AS model_call,
  next_input.run,
  next_input.producer_ns AS start_ns,
  'out' AS direction,
  next_input.message_position,
  next_input.part_position,
  next_input.role,
  next_input.part_type,
  next_input.text,
  next_input.tool_name,
  next_input.call_id,
  next_input.arguments,
  next_input.result,
  next_input.failed
FROM next_input
LEFT JOIN starts USING (producer)
WHERE
  next_input.role = 'assistant'
  AND next_input.message_position > coalesce(starts.before_position, -1);
