-- Runs that ended waiting for a person or another system.
--
-- Their requests are neither done nor failed. The wait is recorded at the end of the run: on its
-- root, or on a span that began no earlier than its last model call. A run also waits if its last
-- model call asks for approval of a call that its provider runs. Otherwise an agent without an
-- answer waits under these conditions: it and its last model call ended well; that call requested
-- a tool that was offered together with others which the run executed; and there is no execution
-- or result. A message log may lack replies, so this last rule does not apply to it.
--
-- Reads:
--   answers
--   bucket_spans
--   executions
--   matches
--   model_calls
--   model_parts
--   run_offered_tools
--   operations
--   pauses
--   requests
--   responses
--   run_ids
--   operation_runs
--   shared_responses
--   unfinished_runs
--   unknown_ends
-- Needs:
--   pauses or requests WHERE (request IN (SELECT request FROM matches)) IS NOT TRUE AND
--     (request IN (SELECT request FROM responses)) IS NOT TRUE or model_parts WHERE direction =
--     'out' AND part_type = 'server_tool_call'
-- Columns:
--   run              BIGINT   One row each.
--   last_model_call  BIGINT   NULL if it has none.
--   is_hidden        BOOLEAN  No call of it says that it waits: one that returned nothing does.
-- Order:
--   none
WITH last_calls AS (
  SELECT
    run,
    arg_max(model_call, (start_ns, model_call)) AS model_call,
    max(start_ns) AS start_ns
  FROM model_calls
  WHERE NOT outside_agent
  GROUP BY run
),

paused_spans AS (
  SELECT
    coalesce(operation_runs.run, rootless.run) AS run,
    bucket_spans.key,
    bucket_spans.start_ns,
    -- A span above a whole run without a root counts as its root.
    operation_runs.run IS NULL AS is_above
  FROM pauses
  INNER JOIN bucket_spans USING (key)
  LEFT JOIN unknown_ends USING (key)
  LEFT JOIN operation_runs ON coalesce(unknown_ends.last, pauses.key) = operation_runs.key
  LEFT JOIN run_ids AS rootless
    ON bucket_spans.trace_id = rootless.trace_id AND rootless.root IS NULL
),

saying_so AS (
  SELECT DISTINCT paused_spans.run
  FROM paused_spans
  INNER JOIN run_ids USING (run)
  LEFT JOIN last_calls USING (run)
  WHERE
    run_ids.root = paused_spans.key
    OR paused_spans.is_above
    OR paused_spans.start_ns >= last_calls.start_ns
    OR last_calls.run IS NULL
),

open_requests AS (
  SELECT
    last_calls.run,
    last_calls.model_call,
    list(requests.tool_name) AS tool_names
  FROM last_calls
  INNER JOIN requests ON last_calls.model_call = requests.model_call
  ANTI JOIN matches ON requests.request = matches.request
  ANTI JOIN responses ON requests.request = responses.request
  ANTI JOIN shared_responses ON last_calls.model_call = shared_responses.model_call
  GROUP BY last_calls.run, last_calls.model_call
),

executed AS (
  SELECT
    run,
    list(tool_name) AS tool_names
  FROM executions
  WHERE NOT from_log
  GROUP BY run
),

paused_tools AS (
  SELECT DISTINCT paused_spans.run
  FROM paused_spans
  INNER JOIN operations USING (key)
  WHERE operations.operation = 'tool'
),

approvals AS (
  SELECT DISTINCT last_calls.run
  FROM last_calls
  INNER JOIN model_parts ON last_calls.model_call = model_parts.model_call
  WHERE
    model_parts.direction = 'out'
    AND model_parts.part_type = 'server_tool_call'
    AND starts_with(model_parts.call_id, 'mcpr_')
    AND model_parts.result IS NULL
    AND model_parts.failed IS NULL
),

unanswered AS (
  SELECT open_requests.run
  FROM open_requests
  INNER JOIN run_ids USING (run)
  INNER JOIN operations ON run_ids.root = operations.key
  INNER JOIN bucket_spans ON open_requests.model_call = bucket_spans.key
  INNER JOIN run_offered_tools ON open_requests.run = run_offered_tools.run
  INNER JOIN executed ON open_requests.run = executed.run
  ANTI JOIN answers ON open_requests.run = answers.run
  WHERE
    NOT operations.failed
    AND NOT bucket_spans.failed
    AND list_has_any(run_offered_tools.names, open_requests.tool_names)
    AND list_has_any(run_offered_tools.names, executed.tool_names)
    AND NOT coalesce(regexp_matches(lower(bucket_spans.finish_reasons), 'length|max|limit'), FALSE)
),

interruptions AS (
  SELECT run FROM saying_so
  UNION
  SELECT run FROM unanswered
  UNION
  SELECT run FROM approvals
)

SELECT
  interruptions.run,
  last_calls.model_call AS last_model_call,
  paused_tools.run IS NULL AND open_requests.run IS NULL AND approvals.run IS NULL AS is_hidden
FROM interruptions
ANTI JOIN unfinished_runs ON interruptions.run = unfinished_runs.run
LEFT JOIN last_calls ON interruptions.run = last_calls.run
LEFT JOIN paused_tools ON interruptions.run = paused_tools.run
LEFT JOIN open_requests ON interruptions.run = open_requests.run
LEFT JOIN approvals ON interruptions.run = approvals.run;
