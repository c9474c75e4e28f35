-- Tool calls: requests with their executions, and executions that no model call requested.
--
-- Reads:
--   requests
--   matches
--   executions
--   responses
--   model_calls
--   tool_lists
--   offered_in_runs
--   control_tools
--   operations
--   runs
--   runs_of_operations
-- Columns:
--   call              BIGINT   The request, else below 0 by the execution; one row each.
--   run               BIGINT
--   model_call        BIGINT   NULL if none requested it.
--   execution         BIGINT   Key of the executing span; NULL if none was recorded.
--   anchor_ns         BIGINT   Start of the model call, else of the execution.
--   message_position  BIGINT   In the output of the model call, else 0.
--   part_position     BIGINT   In the output of the model call, else 0.
--   execution_ns      BIGINT   Start of the execution; NULL if none was recorded.
--   kind              VARCHAR  tool_call | plan | handoff | answer.
--   tool_name         VARCHAR
--   call_id           VARCHAR
--   arguments         VARCHAR  Canonical JSON, else as sent.
--   parsed            BOOLEAN  The arguments are JSON, or there are none.
--   result            VARCHAR  Of the execution, else the response.
--   observed          VARCHAR  Response that the model got, else the result.
--   status            VARCHAR  ok | error | not_executed | unknown.
--   status_source     VARCHAR  span | text | response | request.
--   error_type        VARCHAR
--   error_message     VARCHAR
--   effect            VARCHAR
--   cost              DOUBLE
--   offered           BOOLEAN  NULL if not known.
-- Order:
--   none
WITH requested AS (
  SELECT
    coalesce(requests.request, -1 - executions.key) AS call,
    coalesce(requests.run, executions.run) AS run,
    requests.model_call,
    executions.key AS execution,
    coalesce(requests.start_ns, executions.start_ns) AS anchor_ns,
    coalesce(requests.message_position, 0) AS message_position,
    coalesce(requests.part_position, 0) AS part_position,
    executions.start_ns AS execution_ns,
    coalesce(nullif(requests.tool_name, ''), executions.tool_name) AS tool_name,
    coalesce(requests.call_id, executions.call_id) AS call_id,
    coalesce(requests.arguments, executions.arguments) AS arguments,
    coalesce(
      requests.parsed, executions.arguments IS NULL OR executions.match_arguments IS NOT NULL
    ) AS parsed,
    executions.result,
    executions.failed,
    executions.error_type,
    executions.error_message,
    executions.effect,
    executions.cost,
    responses.request IS NOT NULL AS answered,
    responses.observed
  FROM requests
  LEFT JOIN matches USING (request)
  FULL JOIN executions ON matches.execution = executions.key
  LEFT JOIN responses ON requests.request = responses.request
),

-- Runs in which executions are recorded: there, one that is missing did not happen.
observed_runs AS (
  SELECT DISTINCT run
  FROM executions
),

-- A run may end with the error that a tool is not known, and have recorded no execution.
refusals AS (
  SELECT
    runs.run,
    string_agg(operations.error_message, '\n') AS refusal
  FROM operations
  INNER JOIN runs USING (trace_id)
  WHERE
    operations.failed
    AND operations.operation IN ('agent', 'other')
    AND regexp_matches(
      operations.error_message,
      '(?i)tool.* not found|unknown tool|no such tool|not among the explicitly allowed tools'
    )
  GROUP BY runs.run
),

-- Agents inside of a run that have no tool span around them: whoever calls one runs it.
inner_agents AS (
  SELECT
    runs_of_operations.run,
    coalesce(operations.agent_name, operations.agent_label) AS tool_name,
    bool_or(operations.failed) AS failed
  FROM operations
  INNER JOIN runs_of_operations USING (key)
  WHERE operations.operation = 'agent' AND operations.key <> runs_of_operations.run
  GROUP BY ALL
),

known AS (
  SELECT
    requested.*,
    regexp_matches(refusals.refusal, '\b' || regexp_escape(requested.tool_name) || '\b')
      AS refused,
    observed_runs.run IS NOT NULL AS executions_recorded,
    coalesce(requested.observed, requested.result) AS seen,
    inner_agents.failed AS agent_failed,
    inner_agents.tool_name IS NOT NULL
    OR list_contains(
      coalesce(tool_lists.names, offered_in_runs.names), requested.tool_name
    ) AS offered
  FROM requested
  LEFT JOIN inner_agents USING (run, tool_name)
  LEFT JOIN observed_runs USING (run)
  LEFT JOIN refusals USING (run)
  LEFT JOIN model_calls USING (model_call)
  LEFT JOIN tool_lists ON model_calls.offered_tools = tool_lists.offered_tools
  LEFT JOIN offered_in_runs ON requested.run = offered_in_runs.run
),

judged AS (
  SELECT
    *,
    CASE
      WHEN execution IS NOT NULL AND failed THEN { 'status': 'error', 'source': 'span' }
      -- LangChain's answer in place of a tool; a chat log records it like any result.
      WHEN contains(seen, tool_name || ' is not a valid tool, try one of [')
        THEN { 'status': 'not_executed', 'source': 'text' }
      WHEN execution IS NOT NULL AND (result_is_error(result) OR result_is_error(observed))
        THEN { 'status': 'error', 'source': 'text' }
      WHEN execution IS NOT NULL THEN { 'status': 'ok', 'source': 'span' }
      WHEN agent_failed THEN { 'status': 'error', 'source': 'span' }
      WHEN NOT agent_failed THEN { 'status': 'ok', 'source': 'span' }
      WHEN executions_recorded OR NOT coalesce(offered, TRUE)
        THEN { 'status': 'not_executed', 'source': 'request' }
      WHEN
        answered
        AND contains(observed, tool_name)
        AND regexp_matches(
          observed, '(?i)^\W*(error\W+)?(tool|function)\b.{0,100} not found\b|^\W*unknown tool\b'
        )
        THEN { 'status': 'not_executed', 'source': 'text' }
      WHEN answered AND result_is_error(observed) THEN { 'status': 'error', 'source': 'text' }
      WHEN answered THEN { 'status': 'ok', 'source': 'response' }
      WHEN refused THEN { 'status': 'not_executed', 'source': 'text' }
      ELSE { 'status': 'unknown', 'source': 'request' }
    END AS verdict
  FROM known
)

SELECT
  judged.call,
  judged.run,
  judged.model_call,
  judged.execution,
  judged.anchor_ns,
  judged.message_position,
  judged.part_position,
  judged.execution_ns,
  coalesce(
    (
      SELECT max(control_tools.kind)
      FROM control_tools
      WHERE regexp_full_match(judged.tool_name, control_tools.pattern, 'i')
    ),
    'tool_call'
  ) AS kind,
  nullif(judged.tool_name, '') AS tool_name,
  judged.call_id,
  judged.arguments,
  judged.parsed,
  coalesce(
    judged.result, CASE WHEN judged.verdict.status <> 'not_executed' THEN judged.observed END
  )
    AS result,
  judged.seen AS observed,
  judged.verdict.status,
  judged.verdict.source AS status_source,
  judged.error_type,
  judged.error_message,
  judged.effect,
  judged.cost,
  judged.offered
FROM judged;
