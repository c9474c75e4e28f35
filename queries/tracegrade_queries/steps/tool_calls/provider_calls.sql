-- Tool calls that the model's provider ran itself, with their results.
--
-- A result is part of the call, or a part of its own with its call id: in the same output, or in a
-- later one of a turn that was paused. Without an id it is the first part after the call that
-- belongs to no other call. A span that an instrumentation made of the call is matched by id, else
-- by tool and arguments. A call that needs approval (OpenAI's `mcp_approval_request`) is one call
-- from its request on. It waits until it runs or is denied; if it is denied, it was not executed.
--
-- Reads:
--   canonical
--   found_executions
--   model_parts
-- Needs:
--   model_parts WHERE direction = 'out' AND part_type = 'server_tool_call'
-- Columns:
--   call              BIGINT   Number, above those of requests; one row each.
--   run               BIGINT
--   model_call        BIGINT
--   execution         BIGINT   Key in executions; NULL if none was recorded.
--   anchor_ns         BIGINT   Start of the model call.
--   message_position  BIGINT
--   part_position     BIGINT
--   execution_ns      BIGINT   Start of the execution; NULL if none was recorded.
--   kind              VARCHAR  tool_call.
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR  Canonical JSON, else as sent.
--   parsed            BOOLEAN
--   request_parsed    BOOLEAN
--   result            VARCHAR  NULL if it was not told.
--   observed          VARCHAR  The model's observation of it.
--   status            VARCHAR  ok | error | not_executed | interrupted | unknown.
--   status_source     VARCHAR  span | text | response | request.
--   error_type        VARCHAR
--   error_message     VARCHAR
--   effect            VARCHAR
--   cost              DOUBLE
--   offered           BOOLEAN  TRUE: a provider runs nothing else.
--   executed_by       VARCHAR  provider.
-- Order:
--   none
WITH made AS (
  SELECT
    1_000_000_000_000_000
    + row_number() OVER (
      ORDER BY model_parts.model_call, model_parts.message_position, model_parts.part_position
    ) AS call,
    model_parts.* EXCLUDE (arguments),
    pair_order(model_parts.message_position, model_parts.part_position) AS position,
    coalesce(canonical.canonical, model_parts.arguments) AS arguments,
    model_parts.arguments IS NULL OR canonical.canonical IS NOT NULL AS parsed
  FROM model_parts
  LEFT JOIN canonical ON model_parts.arguments = canonical.text
  WHERE model_parts.direction = 'out' AND model_parts.part_type = 'server_tool_call'
  QUALIFY
    NOT coalesce(starts_with(model_parts.call_id, 'mcpr_'), FALSE)
    OR row_number() OVER (
      PARTITION BY model_parts.run, model_parts.call_id
      ORDER BY model_parts.start_ns, model_parts.message_position, model_parts.part_position
    ) = 1
),

responses_stated AS (
  SELECT
    run,
    model_call,
    start_ns,
    call_id,
    pair_order(message_position, part_position) AS position,
    result,
    failed,
    -- If an approved call fails, the call itself records the failure.
    part_type = 'server_tool_call_response' AND starts_with(call_id, 'mcpr_') AS is_denial
  FROM model_parts
  WHERE
    part_type = 'server_tool_call_response'
    OR (part_type = 'tool_call_response' AND call_id IN (SELECT made.call_id FROM made))
    OR (
      part_type = 'server_tool_call'
      AND starts_with(call_id, 'mcpr_')
      AND (result IS NOT NULL OR failed IS NOT NULL)
    )
),

by_id AS (
  SELECT
    made.call,
    arg_min_null(
      responses_stated.result, (responses_stated.start_ns, responses_stated.position)
    ) AS result,
    bool_or(responses_stated.failed) AS failed,
    bool_or(responses_stated.is_denial) AS is_denied
  FROM made
  INNER JOIN responses_stated
    ON
      made.run = responses_stated.run
      AND made.call_id = responses_stated.call_id
      AND made.start_ns <= responses_stated.start_ns
  GROUP BY made.call
),

by_position AS (
  SELECT
    made.call,
    responses_stated.result,
    responses_stated.failed
  FROM responses_stated
  ASOF JOIN made
    ON responses_stated.model_call = made.model_call AND responses_stated.position > made.position
  WHERE responses_stated.call_id IS NULL
  QUALIFY row_number() OVER (PARTITION BY made.call ORDER BY responses_stated.position) = 1
),

stated AS (
  SELECT
    made.*,
    coalesce(made.result, by_id.result, by_position.result) AS stated_result,
    coalesce(made.failed, by_id.failed, by_position.failed) AS stated_failed,
    coalesce(by_id.call, by_position.call) IS NOT NULL AS is_answered,
    coalesce(by_id.is_denied, FALSE) AS is_denied
  FROM made
  LEFT JOIN by_id ON made.call = by_id.call
  LEFT JOIN by_position ON made.call = by_position.call
),

candidates AS (
  SELECT
    made.call,
    executions.key,
    made.call_id = executions.call_id AS has_its_id,
    row_number() OVER (
      PARTITION BY executions.key ORDER BY made.start_ns DESC, made.call ASC
    ) AS choice
  FROM made
  INNER JOIN found_executions AS executions
    ON
      made.run = executions.run
      AND (
        made.call_id = executions.call_id
        OR (
          coalesce(executions.call_id, made.call_id) IS DISTINCT FROM executions.call_id
          AND made.tool_name = executions.tool_name
          AND made.arguments IS NOT DISTINCT FROM executions.match_arguments
          AND made.start_ns <= executions.start_ns
        )
      )
),

matched AS (
  SELECT
    call,
    arg_min(key, (NOT coalesce(has_its_id, FALSE), key)) AS key
  FROM candidates
  WHERE choice = 1 OR has_its_id
  GROUP BY call
)

SELECT
  stated.call,
  stated.run,
  stated.model_call,
  executions.key AS execution,
  stated.start_ns AS anchor_ns,
  stated.message_position,
  stated.part_position,
  executions.start_ns AS execution_ns,
  'tool_call' AS kind,
  coalesce(stated.tool_name, nullif(executions.tool_name, '')) AS tool_name,
  coalesce(stated.call_id, executions.call_id) AS call_id,
  coalesce(stated.arguments, executions.arguments) AS arguments,
  stated.parsed,
  stated.parsed AS request_parsed,
  if(stated.is_denied, NULL, coalesce(executions.result, stated.stated_result)) AS result,
  coalesce(stated.stated_result, executions.result) AS observed,
  CASE
    WHEN stated.is_denied THEN 'not_executed'
    WHEN stated.stated_failed OR executions.failed THEN 'error'
    WHEN result_is_error(coalesce(stated.stated_result, executions.result)) THEN 'error'
    WHEN
      stated.is_answered
      OR stated.stated_result IS NOT NULL
      OR stated.stated_failed IS NOT NULL
      OR executions.ended
      THEN 'ok'
    WHEN starts_with(stated.call_id, 'mcpr_') THEN 'interrupted'
    ELSE 'unknown'
  END AS status,
  CASE
    WHEN executions.failed THEN 'span'
    WHEN stated.stated_failed THEN 'response'
    WHEN result_is_error(coalesce(stated.stated_result, executions.result)) THEN 'text'
    WHEN
      stated.is_answered OR stated.stated_result IS NOT NULL OR stated.stated_failed IS NOT NULL
      THEN 'response'
    WHEN executions.ended THEN 'span'
    ELSE 'request'
  END AS status_source,
  executions.error_type,
  executions.error_message,
  executions.effect,
  executions.cost,
  TRUE AS offered,
  'provider' AS executed_by
FROM stated
LEFT JOIN matched USING (call)
LEFT JOIN found_executions AS executions ON matched.key = executions.key;
