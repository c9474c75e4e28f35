-- Calls that an agent's run received with their results: it resumes a run that was waiting.
--
-- The input of its first model call ends with results, and no user message follows them; earlier
-- messages request them. Three kinds of calls are left out: calls that another run of the trace
-- requested, unless that run had ended without a result; calls that this run executed; and calls
-- before the last user message, which are history.
--
-- Reads:
--   given_results
--   model_parts
--   operations
--   run_ids
--   operation_runs
-- Needs:
--   given_results
-- Columns:
--   run               BIGINT
--   model_call        BIGINT   The first of the run, which was given the result.
--   start_ns          BIGINT   Start of the run.
--   message_position  BIGINT   Position of the request in the input.
--   part_position     BIGINT
--   tool_name         VARCHAR
--   call_id           VARCHAR  One row for each run and call_id.
--   arguments         VARCHAR  As sent.
-- Order:
--   none
WITH received AS (
  SELECT
    given_results.run,
    given_results.trace_id,
    given_results.root,
    given_results.start_ns,
    model_parts.model_call,
    model_parts.message_position,
    model_parts.part_position,
    pair_order(model_parts.message_position, model_parts.part_position) AS position,
    model_parts.part_type,
    model_parts.tool_name,
    model_parts.call_id,
    model_parts.arguments
  FROM model_parts
  INNER JOIN given_results USING (model_call)
  WHERE
    model_parts.direction = 'in'
    AND model_parts.part_type IN ('tool_call', 'tool_call_response')
    AND pair_order(model_parts.message_position, model_parts.part_position)
    > given_results.user_position
),

results AS (
  SELECT
    model_call,
    call_id,
    max(position) AS position
  FROM received
  WHERE part_type = 'tool_call_response' AND call_id IS NOT NULL
  GROUP BY model_call, call_id
),

requests_made AS (
  SELECT received.*
  FROM received
  INNER JOIN results USING (model_call, call_id)
  WHERE received.part_type = 'tool_call' AND received.position < results.position
),

requested AS (
  SELECT DISTINCT
    run_ids.trace_id,
    model_parts.run,
    model_parts.call_id,
    operations.end_ns
  FROM model_parts
  INNER JOIN run_ids USING (run)
  LEFT JOIN operations ON run_ids.root = operations.key
  WHERE
    model_parts.direction = 'out'
    AND model_parts.part_type = 'tool_call'
    AND run_ids.trace_id IN (SELECT requests_made.trace_id FROM requests_made)
),

executed AS (
  SELECT
    operation_runs.run,
    operations.call_id,
    operations.paused
  FROM operations
  INNER JOIN operation_runs USING (key)
  WHERE operations.operation = 'tool' AND operations.call_id IS NOT NULL
),

-- Calls that have an execution or a result in the run that requested them.
done AS (
  SELECT
    run,
    call_id
  FROM executed
  WHERE NOT paused
  UNION
  SELECT
    run,
    call_id
  FROM model_parts
  WHERE
    direction = 'in'
    AND part_type = 'tool_call_response'
    AND run IN (SELECT requested.run FROM requested)
),

others AS (
  SELECT
    requested.trace_id,
    requested.call_id,
    CASE WHEN done.run IS NULL THEN requested.end_ns END AS left_open_ns
  FROM requested
  LEFT JOIN done ON requested.run = done.run AND requested.call_id = done.call_id
)

SELECT
  requests_made.run,
  requests_made.model_call,
  least(any_value(operations.start_ns), any_value(requests_made.start_ns) - 1) AS start_ns,
  arg_max(requests_made.message_position, requests_made.position) AS message_position,
  arg_max(requests_made.part_position, requests_made.position) AS part_position,
  arg_max(requests_made.tool_name, requests_made.position) AS tool_name,
  requests_made.call_id,
  arg_max(requests_made.arguments, requests_made.position) AS arguments
FROM requests_made
INNER JOIN operations ON requests_made.root = operations.key
ANTI JOIN others
  ON
    requests_made.trace_id = others.trace_id
    AND requests_made.call_id = others.call_id
    AND coalesce(requests_made.start_ns < others.left_open_ns, TRUE)
ANTI JOIN executed ON requests_made.run = executed.run AND requests_made.call_id = executed.call_id
GROUP BY requests_made.run, requests_made.model_call, requests_made.call_id;
