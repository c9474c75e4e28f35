-- Executions matched to requests by tool and arguments, if no id links them.
--
-- If a run requested a call as often as it executed it, requests and executions pair up in order,
-- since the clocks of two services differ. Otherwise an execution belongs to the latest model call
-- before it that requested it, and the rest pairs up in order. An execution whose id no request
-- has may still belong to a request without an id.
--
-- Reads:
--   requests
--   executions
--   id_matches
-- Needs:
--   requests WHERE request NOT IN (SELECT request FROM id_matches)
--   executions WHERE key NOT IN (SELECT execution FROM id_matches)
-- Columns:
--   request    BIGINT  One row each.
--   execution  BIGINT  Key in executions; one row each.
-- Order:
--   none
WITH open_requests AS (
  SELECT
    requests.*,
    row_number() OVER (
      PARTITION BY requests.run, requests.tool_name, requests.arguments
      ORDER BY requests.start_ns, requests.request
    ) AS position,
    row_number() OVER (
      PARTITION BY requests.model_call, requests.tool_name, requests.arguments
      ORDER BY requests.request
    ) AS occurrence,
    count(*) OVER (PARTITION BY requests.run, requests.tool_name, requests.arguments) AS times
  FROM requests
  ANTI JOIN id_matches USING (request)
),

open_executions AS (
  SELECT
    executions.key,
    executions.run,
    executions.tool_name,
    executions.match_arguments AS arguments,
    executions.start_ns,
    row_number() OVER (
      PARTITION BY executions.run, executions.tool_name, executions.match_arguments
      ORDER BY executions.start_ns, executions.key
    ) AS position,
    count(*) OVER (
      PARTITION BY executions.run, executions.tool_name, executions.match_arguments
    ) AS times
  FROM executions
  ANTI JOIN id_matches ON executions.key = id_matches.execution
  WHERE executions.match_arguments IS NOT NULL
),

as_often AS (
  SELECT
    open_requests.request,
    open_executions.key AS execution
  FROM open_requests
  INNER JOIN open_executions USING (run, tool_name, arguments, times, position)
),

asking AS (
  SELECT DISTINCT
    open_requests.run,
    open_requests.tool_name,
    open_requests.arguments,
    open_requests.start_ns,
    open_requests.model_call
  FROM open_requests
  ANTI JOIN as_often USING (request)
),

requested_executions AS (
  SELECT
    open_executions.key,
    open_executions.tool_name,
    open_executions.arguments,
    asking.model_call,
    row_number() OVER (
      PARTITION BY asking.model_call, open_executions.tool_name, asking.arguments
      ORDER BY open_executions.position
    ) AS occurrence
  FROM open_executions
  ASOF JOIN asking
    ON
      open_executions.run = asking.run
      AND open_executions.tool_name = asking.tool_name
      AND open_executions.arguments = asking.arguments
      AND open_executions.start_ns >= asking.start_ns
),

by_time AS (
  SELECT
    open_requests.request,
    requested_executions.key AS execution
  FROM open_requests
  INNER JOIN requested_executions USING (model_call, tool_name, arguments, occurrence)
),

matched AS (
  SELECT * FROM as_often
  UNION ALL
  SELECT * FROM by_time
),

left_requests AS (
  SELECT
    open_requests.* EXCLUDE (position),
    row_number() OVER (
      PARTITION BY open_requests.run, open_requests.tool_name, open_requests.arguments
      ORDER BY open_requests.position
    ) AS position
  FROM open_requests
  ANTI JOIN matched USING (request)
),

left_executions AS (
  SELECT
    open_executions.* EXCLUDE (position),
    row_number() OVER (
      PARTITION BY open_executions.run, open_executions.tool_name, open_executions.arguments
      ORDER BY open_executions.position
    ) AS position
  FROM open_executions
  ANTI JOIN matched ON open_executions.key = matched.execution
)

SELECT
  request,
  execution
FROM matched
UNION ALL
SELECT
  left_requests.request,
  left_executions.key AS execution
FROM left_requests
INNER JOIN left_executions USING (run, tool_name, arguments, position);
