-- Tool calls: requests with their executions, and executions that no model call requested.
--
-- Calls that a provider or the program ran (provider_calls, retrieval_calls) are added.
--
-- Reads:
--   called_agents
--   unfinished_runs
--   interrupted_runs
--   requests
--   matches
--   executions
--   responses
--   shared_responses
--   model_calls
--   model_members
--   next_calls
--   tool_lists
--   run_offered_tools
--   control_tools
--   operations
--   run_ids
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
--   arguments         VARCHAR  Canonical JSON, else as sent; {} of a tool that takes none.
--   parsed            BOOLEAN  The arguments are JSON, or there are none.
--   request_parsed    BOOLEAN  The model's arguments are JSON, too; they may differ.
--   result            VARCHAR  Result of the execution, else the response.
--   observed          VARCHAR  Response that the model got, else the result.
--   status            VARCHAR  ok | error | not_executed | interrupted | unknown.
--   status_source     VARCHAR  span | text | response | request.
--   error_type        VARCHAR
--   error_message     VARCHAR
--   effect            VARCHAR
--   cost              DOUBLE
--   offered           BOOLEAN  NULL if not known; a provider runs nothing else.
--   executed_by       VARCHAR  provider; NULL of all else.
-- Order:
--   none
-- Some write all that a message holds as the result of its last call, with blanks between.
WITH unanswered AS (
  SELECT DISTINCT requests.model_call
  FROM requests
  ANTI JOIN responses USING (request)
),

joined_results AS (
  SELECT
    requests.model_call,
    string_agg(executions.result, ' ' ORDER BY requests.request) AS results
  FROM requests
  SEMI JOIN unanswered USING (model_call)
  INNER JOIN matches USING (request)
  INNER JOIN executions ON matches.execution = executions.key
  GROUP BY requests.model_call
  HAVING count(*) > 1
),

salvaged AS (
  SELECT DISTINCT model_members.model_call
  FROM operations
  INNER JOIN model_members USING (key)
  WHERE list_contains(operations.flags, 'salvaged')
),

-- Model calls whose requests may be incomplete, in their output or in the next call's input.
partly_recorded AS (
  SELECT model_call
  FROM salvaged
  UNION
  SELECT next_calls.model_call
  FROM next_calls
  INNER JOIN salvaged ON next_calls.next_call = salvaged.model_call
),

-- If an execution failed and the call was executed again, the model got the result of the last.
last_tries AS (
  SELECT
    matches.request,
    arg_max(again.key, (again.start_ns, again.key)) AS execution
  FROM matches
  INNER JOIN executions AS failed ON matches.execution = failed.key
  INNER JOIN executions AS again
    ON
      failed.run = again.run
      AND failed.call_id = again.call_id
      AND failed.tool_name = again.tool_name
      AND failed.start_ns < again.start_ns
  ANTI JOIN matches AS others ON again.key = others.execution
  WHERE failed.failed
  GROUP BY matches.request
),

requested AS (
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
    -- If the end of a request was cut off, its execution has the complete arguments. The same is
    -- true if a stream's pieces were joined wrongly, or not at all.
    CASE
      WHEN (NOT requests.parsed OR requests.is_blank) AND executions.match_arguments IS NOT NULL
        THEN executions.match_arguments
      WHEN
        partly_recorded.model_call IS NOT NULL
        AND json_contains(
          try_cast(executions.arguments AS JSON), try_cast(requests.arguments AS JSON)
        )
        THEN executions.arguments
      ELSE coalesce(requests.arguments, executions.arguments)
    END AS arguments,
    coalesce(
      requests.parsed OR executions.match_arguments IS NOT NULL,
      executions.arguments IS NULL OR executions.match_arguments IS NOT NULL
    ) AS parsed,
    coalesce(requests.parsed, TRUE) AS request_parsed,
    coalesce(requests.is_carried, FALSE) AS is_carried,
    executions.result,
    result_is_error(executions.result) AS result_fails,
    executions.failed,
    executions.ended,
    executions.paused,
    executions.error_type,
    executions.error_message,
    executions.effect,
    executions.cost,
    responses.failed AS answer_failed,
    responses.request IS NOT NULL
    OR coalesce(
      NOT shared_responses.is_code AND NOT result_is_error(shared_responses.observed), FALSE
    ) AS answered,
    responses.observed AS response,
    result_is_error(responses.observed) AS response_fails,
    coalesce(shared_responses.is_code, FALSE) AS is_code,
    coalesce(responses.observed = joined_results.results, FALSE) AS is_joined
  FROM requests
  LEFT JOIN matches USING (request)
  FULL JOIN executions ON matches.execution = executions.key
  LEFT JOIN last_tries ON executions.key = last_tries.execution
  LEFT JOIN responses
    ON
      coalesce(last_tries.request, requests.request) = responses.request
      AND (
        requests.request IS NULL
        OR requests.request NOT IN (SELECT repeated.request FROM last_tries AS repeated)
      )
  LEFT JOIN shared_responses ON requests.model_call = shared_responses.model_call
  LEFT JOIN joined_results ON requests.model_call = joined_results.model_call
  LEFT JOIN partly_recorded ON requests.model_call = partly_recorded.model_call
),

-- If one message holds the results of all calls, the observation is the result. Code may fail
-- after its call succeeded: that failure belongs to the code, not to the call.
observed_calls AS (
  SELECT
    *,
    is_joined
    OR (
      is_code
      AND NOT failed
      AND result IS NOT NULL
      AND (response_fails OR coalesce(answer_failed, FALSE))
      AND NOT result_fails
    ) AS saw_result,
    answer_failed AND NOT saw_result AS seen_failed,
    if(saw_result, result, response) AS observed,
    if(saw_result, result_fails, response_fails) AS observed_fails
  FROM requested
),

-- Tools whose executions a run records: a missing execution did not happen. A message log records
-- replies, so a missing reply proves nothing.
executed_tools AS (
  SELECT DISTINCT
    executions.run,
    executions.tool_name
  FROM executions
  ANTI JOIN called_agents USING (key)
  WHERE NOT executions.from_log
),

-- All tools that were offered together with one of these run in the same process. Tools that a
-- provider runs itself have no name of their own in the list.
recording_runs AS (
  SELECT DISTINCT executed_tools.run
  FROM executed_tools
  INNER JOIN run_offered_tools USING (run)
  WHERE list_contains(run_offered_tools.names, executed_tools.tool_name)
),

-- A run may end with the error that a tool does not exist, without a recorded execution.
refusals AS (
  SELECT
    run_ids.run,
    string_agg(operations.error_message, chr(10)) AS refusal
  FROM operations
  INNER JOIN run_ids USING (trace_id)
  WHERE
    operations.failed
    AND operations.operation IN ('agent', 'other')
    AND refuses_tool(operations.error_message)
  GROUP BY run_ids.run
),

known AS (
  SELECT
    requested.*,
    contains(coalesce(requested.observed, requested.result), requested.tool_name)
    AND says_tool_unknown(coalesce(requested.observed, requested.result)) AS says_unknown,
    regexp_matches(refusals.refusal, '\b' || regexp_escape(requested.tool_name) || '\b')
      AS refused,
    executed_tools.run IS NOT NULL
    OR (
      recording_runs.run IS NOT NULL
      AND list_contains(run_offered_tools.names, requested.tool_name)
    ) AS executions_recorded,
    coalesce(requested.observed, requested.result) AS observed_text,
    unfinished_runs.run IS NOT NULL AS is_unfinished,
    list_contains(
      coalesce(tool_lists.bare_names, run_offered_tools.bare_names), requested.tool_name
    ) AS takes_nothing,
    interrupted_runs.run IS NOT NULL AS is_interrupted,
    coalesce(interrupted_runs.is_hidden, FALSE) AS hides_pause,
    called_agents.key IS NOT NULL
    OR list_contains(
      coalesce(tool_lists.names, run_offered_tools.names), requested.tool_name
    ) AS offered
  FROM observed_calls AS requested
  LEFT JOIN called_agents ON requested.execution = called_agents.key
  LEFT JOIN unfinished_runs ON requested.model_call = unfinished_runs.last_model_call
  LEFT JOIN interrupted_runs ON requested.model_call = interrupted_runs.last_model_call
  LEFT JOIN executed_tools
    ON requested.run = executed_tools.run AND requested.tool_name = executed_tools.tool_name
  LEFT JOIN recording_runs ON requested.run = recording_runs.run
  LEFT JOIN refusals ON requested.run = refusals.run
  LEFT JOIN model_calls ON requested.model_call = model_calls.model_call
  LEFT JOIN tool_lists ON model_calls.offered_tools = tool_lists.offered_tools
  LEFT JOIN run_offered_tools ON requested.run = run_offered_tools.run
),

judged AS (
  SELECT
    *,
    CASE
      WHEN paused AND NOT answered THEN { 'status': 'interrupted', 'source': 'span' }
      WHEN execution IS NOT NULL AND failed THEN { 'status': 'error', 'source': 'span' }
      -- A chat log records it like any result.
      WHEN
        contains(observed_text, langchain_refusal(tool_name))
        OR (execution IS NULL AND smolagents_refuses(observed_text, tool_name))
        THEN { 'status': 'not_executed', 'source': 'text' }
      -- Some frameworks look the tool up like any other, and report that it does not exist.
      WHEN
        (NOT coalesce(offered, TRUE) AND says_tool_not_found(observed_text))
        OR (execution IS NOT NULL AND says_unknown AND NOT coalesce(offered, FALSE))
        THEN { 'status': 'not_executed', 'source': 'text' }
      WHEN execution IS NOT NULL AND (result_fails OR observed_fails)
        THEN { 'status': 'error', 'source': 'text' }
      -- The process may have died in it.
      WHEN execution IS NOT NULL AND NOT ended AND observed_text IS NULL
        THEN { 'status': 'unknown', 'source': 'span' }
      -- Some record a pause as an execution that ended well.
      WHEN execution IS NOT NULL AND hides_pause AND observed_text IS NULL
        THEN { 'status': 'interrupted', 'source': 'span' }
      -- ADK does not offer models the tools with which it asks the user.
      WHEN
        is_interrupted
        AND execution IS NULL
        AND observed_text IS NULL
        AND (coalesce(offered, TRUE) OR starts_with(tool_name, 'adk_request_'))
        THEN { 'status': 'interrupted', 'source': 'request' }
      WHEN execution IS NOT NULL AND seen_failed
        THEN { 'status': 'error', 'source': 'response' }
      WHEN execution IS NOT NULL THEN { 'status': 'ok', 'source': 'span' }
      -- It may have been running when the process died.
      WHEN is_unfinished AND NOT answered AND coalesce(offered, TRUE)
        THEN { 'status': 'unknown', 'source': 'request' }
      -- A call whose result the run received was executed elsewhere.
      WHEN (executions_recorded OR NOT coalesce(offered, TRUE)) AND NOT (is_carried AND answered)
        THEN { 'status': 'not_executed', 'source': 'request' }
      WHEN answered AND says_unknown THEN { 'status': 'not_executed', 'source': 'text' }
      WHEN answered AND starts_with(observed, haystack_failure(tool_name))
        THEN { 'status': 'error', 'source': 'text' }
      WHEN answered AND observed_fails THEN { 'status': 'error', 'source': 'text' }
      WHEN answered AND seen_failed THEN { 'status': 'error', 'source': 'response' }
      WHEN answered THEN { 'status': 'ok', 'source': 'response' }
      WHEN refused THEN { 'status': 'not_executed', 'source': 'text' }
      ELSE { 'status': 'unknown', 'source': 'request' }
    END AS verdict
  FROM known
)

SELECT
  call,
  run,
  model_call,
  execution,
  anchor_ns,
  message_position,
  part_position,
  execution_ns,
  coalesce(
    (
      SELECT max(control_tools.kind)
      FROM control_tools
      WHERE
        regexp_full_match(
          -- Without the name of an MCP server, as Claude Code has it.
          regexp_replace(judged.tool_name, '^mcp__.+?__', ''), control_tools.pattern, 'i'
        )
    ),
    'tool_call'
  ) AS kind,
  nullif(tool_name, '') AS tool_name,
  call_id,
  coalesce(arguments, if(takes_nothing, '{}', NULL)) AS arguments,
  parsed,
  request_parsed,
  coalesce(result, CASE WHEN verdict.status <> 'not_executed' THEN observed END) AS result,
  observed_text AS observed,
  verdict.status,
  verdict.source AS status_source,
  error_type,
  error_message,
  effect,
  cost,
  offered,
  NULL::VARCHAR AS executed_by
FROM judged;
