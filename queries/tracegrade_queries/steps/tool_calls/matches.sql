-- Which execution belongs to which request.
--
-- By call id, where it says which; else by tool and arguments, else by tool alone, to the latest
-- model call before the execution that requested it, in order. An id that several model calls gave
-- is that of the latest of them before the execution: some number their calls anew each time.
-- Within one of them, an id that several requests have says nothing.
--
-- Reads:
--   requests
--   executions
-- Needs:
--   requests
--   executions
-- Columns:
--   request    BIGINT  One row each.
--   execution  BIGINT  Key in executions; one row each.
-- Order:
--   none
WITH rounds AS (
  SELECT
    run,
    call_id,
    model_call,
    any_value(request) AS request,
    count(*) AS requests,
    -- A clock that is behind leads to the first.
    CASE
      WHEN
        row_number() OVER (PARTITION BY run, call_id ORDER BY min(start_ns), model_call) > 1
        THEN min(start_ns)
      ELSE 0
    END AS from_ns
  FROM requests
  WHERE call_id IS NOT NULL
  GROUP BY run, call_id, model_call
),

identified_executions AS (
  SELECT
    executions.key,
    rounds.request,
    rounds.requests,
    row_number() OVER (PARTITION BY rounds.request ORDER BY executions.start_ns, executions.key)
      AS occurrence
  FROM executions
  ASOF JOIN rounds
    ON
      executions.run = rounds.run
      AND executions.call_id = rounds.call_id
      AND executions.start_ns >= rounds.from_ns
),

by_id AS (
  SELECT
    request,
    key AS execution
  FROM identified_executions
  WHERE requests = 1 AND occurrence = 1
),

-- An execution whose id no request knows may still be one of a request without id.
open_requests AS (
  SELECT
    requests.*,
    row_number() OVER (
      PARTITION BY requests.model_call, requests.tool_name, requests.arguments
      ORDER BY requests.request
    ) AS occurrence
  FROM requests
  ANTI JOIN by_id USING (request)
),

open_executions AS (
  SELECT executions.*
  FROM executions
  ANTI JOIN by_id ON executions.key = by_id.execution
),

argument_calls AS (
  SELECT DISTINCT
    run,
    tool_name,
    arguments,
    start_ns,
    model_call
  FROM open_requests
),

placed_by_arguments AS (
  SELECT
    open_executions.key,
    open_executions.tool_name,
    open_executions.match_arguments AS arguments,
    argument_calls.model_call,
    row_number() OVER (
      PARTITION BY argument_calls.model_call, open_executions.tool_name, argument_calls.arguments
      ORDER BY open_executions.start_ns, open_executions.key
    ) AS occurrence
  FROM open_executions
  ASOF JOIN argument_calls
    ON
      open_executions.run = argument_calls.run
      AND open_executions.tool_name = argument_calls.tool_name
      AND open_executions.match_arguments = argument_calls.arguments
      AND open_executions.start_ns >= argument_calls.start_ns
),

by_arguments AS (
  SELECT
    open_requests.request,
    placed_by_arguments.key AS execution
  FROM open_requests
  INNER JOIN placed_by_arguments USING (model_call, tool_name, arguments, occurrence)
),

left_requests AS (
  SELECT
    open_requests.* EXCLUDE (occurrence),
    row_number() OVER (
      PARTITION BY open_requests.model_call, open_requests.tool_name
      ORDER BY open_requests.request
    ) AS occurrence
  FROM open_requests
  ANTI JOIN by_arguments USING (request)
),

left_executions AS (
  SELECT open_executions.*
  FROM open_executions
  ANTI JOIN by_arguments ON open_executions.key = by_arguments.execution
),

name_calls AS (
  SELECT DISTINCT
    run,
    tool_name,
    start_ns,
    model_call
  FROM left_requests
),

placed_by_name AS (
  SELECT
    left_executions.key,
    left_executions.tool_name,
    name_calls.model_call,
    row_number() OVER (
      PARTITION BY name_calls.model_call, left_executions.tool_name
      ORDER BY left_executions.start_ns, left_executions.key
    ) AS occurrence
  FROM left_executions
  ASOF JOIN name_calls
    ON
      left_executions.run = name_calls.run
      AND left_executions.tool_name = name_calls.tool_name
      AND left_executions.start_ns >= name_calls.start_ns
),

by_name AS (
  SELECT
    left_requests.request,
    placed_by_name.key AS execution
  FROM left_requests
  INNER JOIN placed_by_name USING (model_call, tool_name, occurrence)
)

SELECT
  request,
  execution
FROM by_id
UNION ALL
SELECT
  request,
  execution
FROM by_arguments
UNION ALL
SELECT
  request,
  execution
FROM by_name;
