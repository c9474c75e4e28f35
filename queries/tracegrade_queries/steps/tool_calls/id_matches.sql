-- Which execution belongs to which request, by the id of the call.
--
-- Some number their calls anew each time. An id that as many model calls gave as there are
-- executions pairs up in order, since the clocks of two services differ; else the execution is of
-- the latest of them before it. Within one of them, an id that several requests have says nothing.
--
-- Reads:
--   requests
--   executions
-- Needs:
--   requests WHERE call_id IS NOT NULL
--   executions WHERE call_id IS NOT NULL
-- Columns:
--   request    BIGINT  One row each.
--   execution  BIGINT  Key in executions; one row each.
-- Order:
--   none
WITH ids AS (
  SELECT
    run,
    call_id,
    any_value(request) AS request,
    count(*) AS requests
  FROM requests
  WHERE call_id IS NOT NULL
  GROUP BY run, call_id
),

by_own_id AS (
  SELECT
    ids.request,
    arg_min(executions.key, (executions.start_ns, executions.key)) AS execution
  FROM ids
  INNER JOIN executions USING (run, call_id)
  WHERE ids.requests = 1
  GROUP BY ids.request
),

rounds AS (
  SELECT
    requests.run,
    requests.call_id,
    requests.model_call,
    any_value(requests.request) AS request,
    count(*) AS requests,
    -- A clock that is behind leads to the first.
    if(
      min(requests.start_ns)
      = min(min(requests.start_ns)) OVER (PARTITION BY requests.run, requests.call_id),
      0,
      min(requests.start_ns)
    ) AS from_ns,
    row_number() OVER (
      PARTITION BY requests.run, requests.call_id
      ORDER BY min(requests.start_ns), requests.model_call
    ) AS place,
    count(*) OVER (PARTITION BY requests.run, requests.call_id) AS rounds
  FROM requests
  INNER JOIN ids USING (run, call_id)
  WHERE ids.requests > 1
  GROUP BY requests.run, requests.call_id, requests.model_call
),

placed AS (
  SELECT
    executions.key,
    executions.run,
    executions.call_id,
    executions.start_ns,
    row_number() OVER (
      PARTITION BY executions.run, executions.call_id ORDER BY executions.start_ns, executions.key
    ) AS place,
    count(*) OVER (PARTITION BY executions.run, executions.call_id) AS executions
  FROM executions
  INNER JOIN ids USING (run, call_id)
  WHERE ids.requests > 1
),

in_order AS (
  SELECT
    placed.key,
    rounds.request,
    rounds.requests
  FROM placed
  INNER JOIN rounds USING (run, call_id, place)
  WHERE placed.executions = rounds.rounds
),

by_time AS (
  SELECT
    placed.key,
    rounds.request,
    rounds.requests,
    row_number() OVER (PARTITION BY rounds.request ORDER BY placed.place) AS occurrence
  FROM placed
  ASOF JOIN rounds
    ON
      placed.run = rounds.run
      AND placed.call_id = rounds.call_id
      AND placed.start_ns >= rounds.from_ns
  WHERE placed.executions <> rounds.rounds
)

SELECT
  request,
  execution
FROM by_own_id
UNION ALL
SELECT
  request,
  key AS execution
FROM in_order
WHERE requests = 1
UNION ALL
SELECT
  request,
  key AS execution
FROM by_time
WHERE requests = 1 AND occurrence = 1;
