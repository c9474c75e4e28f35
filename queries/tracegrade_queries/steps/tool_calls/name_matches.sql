-- Executions matched to requests by tool alone, if neither id nor arguments link them.
--
-- Arguments on one side may be missing, incomplete or extended with defaults. If a run requested a
-- tool as often as it executed it, requests and executions pair up in order, since the clocks of
-- two services differ. Otherwise an execution belongs to the latest model call before it that
-- requested the tool, in order.
--
-- Reads:
--   argument_matches
--   executions
--   id_matches
--   requests
-- Needs:
--   requests WHERE request NOT IN (SELECT request FROM id_matches)
--   executions WHERE key NOT IN (SELECT execution FROM id_matches)
-- Columns:
--   request    BIGINT  One row each.
--   execution  BIGINT  Key in executions; one row each.
-- Order:
--   none
WITH matched AS (
  SELECT * FROM id_matches
  UNION ALL
  SELECT * FROM argument_matches
),

open_requests AS (
  SELECT
    requests.*,
    row_number() OVER (
      PARTITION BY requests.run, requests.tool_name ORDER BY requests.start_ns, requests.request
    ) AS position,
    row_number() OVER (
      PARTITION BY requests.model_call, requests.tool_name ORDER BY requests.request
    ) AS occurrence,
    count(*) OVER (PARTITION BY requests.run, requests.tool_name) AS times
  FROM requests
  ANTI JOIN matched USING (request)
),

open_executions AS (
  SELECT
    executions.*,
    row_number() OVER (
      PARTITION BY executions.run, executions.tool_name
      ORDER BY executions.start_ns, executions.key
    ) AS position,
    count(*) OVER (PARTITION BY executions.run, executions.tool_name) AS times
  FROM executions
  ANTI JOIN matched ON executions.key = matched.execution
),

as_often AS (
  SELECT
    open_requests.request,
    open_executions.key AS execution
  FROM open_requests
  INNER JOIN open_executions USING (run, tool_name, times, position)
  WHERE
    open_executions.match_arguments IS NULL
    OR open_requests.arguments IS NULL
    OR open_requests.is_blank
    OR NOT open_requests.parsed
    OR json_contains(
      try_cast(open_executions.match_arguments AS JSON),
      try_cast(open_requests.arguments AS JSON)
    )
),

left_requests AS (
  SELECT
    open_requests.* EXCLUDE (occurrence),
    row_number() OVER (
      PARTITION BY open_requests.model_call, open_requests.tool_name
      ORDER BY open_requests.occurrence
    ) AS occurrence
  FROM open_requests
  ANTI JOIN as_often USING (request)
),

asking AS (
  SELECT DISTINCT
    run,
    tool_name,
    start_ns,
    model_call
  FROM left_requests
),

requested_executions AS (
  SELECT
    open_executions.key,
    open_executions.tool_name,
    asking.model_call,
    row_number() OVER (
      PARTITION BY asking.model_call, open_executions.tool_name ORDER BY open_executions.position
    ) AS occurrence
  FROM open_executions
  ANTI JOIN as_often ON open_executions.key = as_often.execution
  ASOF JOIN asking
    ON
      open_executions.run = asking.run
      AND open_executions.tool_name = asking.tool_name
      AND open_executions.start_ns >= asking.start_ns
)

SELECT
  request,
  execution
FROM as_often
UNION ALL
SELECT
  left_requests.request,
  requested_executions.key AS execution
FROM left_requests
INNER JOIN requested_executions USING (model_call, tool_name, occurrence);
