-- Model calls and executions below a caller's span that belong to an agent which it called.
--
-- Some instrumentations put a sub-agent's operations below the main agent. A model call belongs to
-- the sub-agent that executed all calls in it. An execution belongs to the only run that requested
-- its id. If a request or its execution has no id, they are the same call if tool and arguments
-- are equal.
--
-- Reads:
--   dialect_messages
--   known_parents
--   operations
--   run_starts
--   placed_without_copies
-- Needs:
--   run_starts WHERE caller IS NOT NULL
-- Columns:
--   key  BIGINT  One row each.
--   run  BIGINT  The run that made the call.
-- Order:
--   none
WITH called AS (
  SELECT
    run_starts.key AS run,
    run_starts.trace_id,
    run_starts.start_ns,
    run_starts.end_ns,
    calling.run AS caller_run
  FROM run_starts
  INNER JOIN placed_without_copies AS calling ON run_starts.caller = calling.key
  WHERE calling.run <> run_starts.key
),

spans AS (
  SELECT
    operations.key,
    operations.trace_id,
    operations.operation,
    operations.call_id,
    hash(
      operations.tool_name,
      coalesce(json(try_cast(operations.arguments AS JSON))::VARCHAR, operations.arguments)
    )::VARCHAR AS call_digest,
    operations.start_ns,
    operations.end_ns,
    placed_without_copies.run
  FROM operations
  SEMI JOIN called USING (trace_id)
  INNER JOIN placed_without_copies USING (key)
  WHERE operations.operation IN ('model', 'tool')
),

model_requests AS (
  SELECT DISTINCT
    spans.key,
    spans.trace_id,
    spans.run,
    nullif(parts.call_id, '') AS call_id,
    CASE
      WHEN parts.part_type = 'tool_call'
        THEN
          hash(
            parts.tool_name,
            coalesce(json(try_cast(parts.arguments AS JSON))::VARCHAR, parts.arguments)
          )::VARCHAR
    END AS call_digest,
    parts.direction = 'out' AND parts.part_type = 'tool_call' AS is_request
  FROM dialect_messages AS parts
  INNER JOIN spans USING (key)
  WHERE spans.operation = 'model' AND parts.part_type IN ('tool_call', 'tool_call_response')
),

-- An id of executions that no message contains, or of messages that no execution has, counts as
-- none.
ids AS (
  SELECT
    trace_id,
    call_id
  FROM spans
  WHERE operation = 'tool'
  INTERSECT
  SELECT
    trace_id,
    call_id
  FROM model_requests
),

executions AS (
  SELECT
    spans.key,
    spans.trace_id,
    spans.run,
    coalesce(ids.call_id, spans.call_digest) AS call
  FROM spans
  LEFT JOIN ids USING (trace_id, call_id)
  WHERE spans.operation = 'tool'
),

message_calls AS (
  SELECT
    model_requests.key,
    model_requests.trace_id,
    model_requests.run,
    model_requests.is_request,
    coalesce(ids.call_id, model_requests.call_digest) AS call
  FROM model_requests
  LEFT JOIN ids USING (trace_id, call_id)
),

executing AS (
  SELECT
    trace_id,
    call,
    min(run) AS run
  FROM executions
  GROUP BY trace_id, call
  HAVING min(run) = max(run)
),

requesting AS (
  SELECT
    trace_id,
    call,
    min(run) AS run
  FROM message_calls
  WHERE is_request
  GROUP BY trace_id, call
  HAVING min(run) = max(run)
),

model_owners AS (
  SELECT
    message_calls.key,
    min(executing.run) AS run
  FROM message_calls
  INNER JOIN executing USING (trace_id, call)
  GROUP BY message_calls.key
  HAVING min(executing.run) = max(executing.run)
),

moved_models AS (
  SELECT
    spans.key,
    model_owners.run
  FROM spans
  INNER JOIN model_owners USING (key)
  INNER JOIN called ON model_owners.run = called.run AND spans.run = called.caller_run
  WHERE spans.start_ns >= called.start_ns AND spans.end_ns <= called.end_ns
),

-- A request that is too high in the tree does not identify the run of the execution.
moved_tools AS (
  SELECT
    executions.key,
    requesting.run
  FROM executions
  INNER JOIN requesting USING (trace_id, call)
  INNER JOIN called ON requesting.run = called.run AND executions.run = called.caller_run
),

moved AS (
  SELECT * FROM moved_models
  UNION ALL
  SELECT * FROM moved_tools
)

SELECT
  key,
  run
FROM moved
UNION
SELECT
  known_parents.key,
  moved.run
FROM moved
INNER JOIN known_parents ON moved.key = known_parents.parent
INNER JOIN placed_without_copies AS inner_spans ON known_parents.key = inner_spans.key
INNER JOIN called ON moved.run = called.run AND inner_spans.run = called.caller_run
ANTI JOIN moved AS moved_itself ON known_parents.key = moved_itself.key;
