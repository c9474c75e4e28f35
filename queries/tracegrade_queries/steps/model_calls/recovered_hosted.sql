-- Tools that a provider ran for a model call, if only the input of a later call records them.
--
-- They are in the last assistant messages of that input, and in no earlier input or output of the
-- run. They belong to the call that requested the tools named there, else to the call with the
-- same text, else to the call before. The input of a run's first call was done in another run.
-- Calls without any output have it from there (recovered_parts).
--
-- Reads:
--   model_calls
--   recorded_parts
--   recovered_parts
-- Needs:
--   recorded_parts WHERE direction = 'in' AND part_type = 'server_tool_call'
-- Columns:
--   model_call        BIGINT   The call that they belong to.
--   run               BIGINT
--   start_ns          BIGINT   Start of that model call.
--   direction         VARCHAR  out.
--   message_position  BIGINT   Before all that the output says.
--   part_position     BIGINT
--   role              VARCHAR
--   part_type         VARCHAR  server_tool_call | server_tool_call_response.
--   text              VARCHAR  NULL.
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR
--   result            VARCHAR
--   failed            BOOLEAN
-- Order:
--   none
WITH telling_runs AS (
  SELECT DISTINCT run
  FROM recorded_parts
  WHERE direction = 'in' AND part_type = 'server_tool_call'
),

parts AS MATERIALIZED (
  SELECT
    *,
    part_type IN ('server_tool_call', 'server_tool_call_response') AS is_hosted,
    -- Without an id, a call is identified by its tool and its arguments, and a result by its text.
    coalesce(call_id, concat_ws(chr(0), tool_name, arguments, result)) AS identity
  FROM recorded_parts
  WHERE run IN (SELECT telling_runs.run FROM telling_runs)
),

lasts AS (
  SELECT
    model_call,
    max(message_position) AS last_position
  FROM parts
  WHERE direction = 'in' AND role = 'assistant'
  GROUP BY model_call
),

starts AS (
  SELECT
    lasts.model_call,
    lasts.last_position,
    coalesce(max(parts.message_position), -1) AS before_position
  FROM lasts
  LEFT JOIN parts
    ON
      lasts.model_call = parts.model_call
      AND parts.direction = 'in'
      AND parts.role <> 'assistant'
      AND lasts.last_position > parts.message_position
  GROUP BY lasts.model_call, lasts.last_position
),

recent AS (
  SELECT parts.*
  FROM parts
  INNER JOIN starts USING (model_call)
  WHERE
    parts.direction = 'in'
    AND parts.role = 'assistant'
    AND parts.message_position > starts.before_position
    AND parts.message_position <= starts.last_position
),

-- The first record of a call, in any input or output of its run.
tellers AS (
  SELECT
    run,
    part_type,
    identity,
    arg_min(model_call, (start_ns, model_call)) AS model_call
  FROM parts
  WHERE is_hosted
  GROUP BY run, part_type, identity
),

first_records AS (
  SELECT recent.*
  FROM recent
  INNER JOIN tellers USING (run, part_type, identity, model_call)
  WHERE recent.is_hosted
),

outputs AS (
  SELECT
    run,
    model_call,
    start_ns,
    call_id,
    text
  FROM parts
  WHERE direction = 'out'
),

by_request AS (
  SELECT
    recent.model_call,
    arg_max(outputs.model_call, (outputs.start_ns, outputs.model_call)) AS producer
  FROM recent
  INNER JOIN outputs
    ON
      recent.run = outputs.run
      AND recent.call_id = outputs.call_id
      AND recent.start_ns > outputs.start_ns
  WHERE recent.part_type = 'tool_call'
  GROUP BY recent.model_call
),

by_text AS (
  SELECT
    recent.model_call,
    arg_max(outputs.model_call, (outputs.start_ns, outputs.model_call)) AS producer
  FROM recent
  INNER JOIN outputs
    ON
      recent.run = outputs.run
      AND recent.text = outputs.text
      AND recent.start_ns > outputs.start_ns
  WHERE recent.part_type = 'text'
  GROUP BY recent.model_call
),

-- An output may hold such a call without the id that it has in the input.
outputs_without_id AS (
  SELECT DISTINCT
    model_call,
    tool_name
  FROM parts
  WHERE direction = 'out' AND part_type = 'server_tool_call' AND call_id IS NULL
),

outputs_with_id AS (
  SELECT DISTINCT
    model_call,
    tool_name
  FROM parts
  WHERE direction = 'out' AND part_type = 'server_tool_call' AND call_id IS NOT NULL
),

ordered AS (
  SELECT
    model_call,
    start_ns,
    lag(model_call) OVER (PARTITION BY run ORDER BY start_ns, span_id) AS producer
  FROM model_calls
  WHERE run IN (SELECT telling_runs.run FROM telling_runs)
)

SELECT
  coalesce(by_request.producer, by_text.producer, ordered.producer) AS model_call,
  first_records.run,
  producing.start_ns,
  'out' AS direction,
  first_records.message_position - position_gap() AS message_position,
  first_records.part_position,
  first_records.role,
  first_records.part_type,
  NULL::VARCHAR AS text,
  first_records.tool_name,
  first_records.call_id,
  first_records.arguments,
  first_records.result,
  first_records.failed
FROM first_records
INNER JOIN ordered USING (model_call)
LEFT JOIN by_request USING (model_call)
LEFT JOIN by_text USING (model_call)
INNER JOIN ordered AS producing
  ON coalesce(by_request.producer, by_text.producer, ordered.producer) = producing.model_call
ANTI JOIN recovered_parts ON producing.model_call = recovered_parts.model_call
ANTI JOIN outputs_without_id
  ON
    producing.model_call = outputs_without_id.model_call
    AND first_records.tool_name = outputs_without_id.tool_name
ANTI JOIN outputs_with_id
  ON
    first_records.call_id IS NULL
    AND producing.model_call = outputs_with_id.model_call
    AND first_records.tool_name = outputs_with_id.tool_name;
