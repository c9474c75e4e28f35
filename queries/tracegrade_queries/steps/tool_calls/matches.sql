-- Which execution belongs to which request.
--
-- By call id, in order where an id was used again; else by tool and arguments, else by tool alone,
-- to the latest model call before the execution that requested it, in order.
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
WITH numbered_requests AS (
  SELECT
    request,
    run,
    call_id,
    row_number() OVER (
      PARTITION BY run, call_id ORDER BY start_ns, request
    ) AS occurrence
  FROM requests
  WHERE call_id IS NOT NULL
),

numbered_executions AS (
  SELECT
    key,
    run,
    call_id,
    row_number() OVER (PARTITION BY run, call_id ORDER BY start_ns, key) AS occurrence
  FROM executions
  WHERE call_id IS NOT NULL
),

by_id AS (
  SELECT
    numbered_requests.request,
    numbered_executions.key AS execution
  FROM numbered_requests
  INNER JOIN numbered_executions USING (run, call_id, occurrence)
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
