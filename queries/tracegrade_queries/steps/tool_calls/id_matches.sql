-- Executions matched to requests by the id of the call.
--
-- Some agents restart the numbers of their calls. If as many model calls gave an id as there are
-- executions, they pair up in order, since the clocks of two services differ. Otherwise the
-- execution belongs to the latest of the model calls before it. An id that several requests of one
-- model call have does not identify any. If several agents of a run use one id, and each execution
-- belongs to one of them, each agent's calls are paired separately.
--
-- Reads:
--   requests
--   executions
--   operations
--   name_ends
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

used AS (
  SELECT
    requests.run,
    requests.call_id,
    requests.model_call AS key
  FROM requests
  INNER JOIN ids USING (run, call_id)
  WHERE ids.requests > 1
  UNION
  SELECT
    executions.run,
    executions.call_id,
    executions.key
  FROM executions
  INNER JOIN ids USING (run, call_id)
  WHERE ids.requests > 1
),

naming AS (
  SELECT
    key,
    agent_name
  FROM operations
  WHERE agent_name IS NOT NULL
),

users AS (
  SELECT
    used.run,
    used.call_id,
    used.key,
    coalesce(own.agent_name, above.agent_name, '') AS agent_name
  FROM used
  LEFT JOIN naming AS own ON used.key = own.key
  LEFT JOIN name_ends ON used.key = name_ends.key
  LEFT JOIN naming AS above ON name_ends.last = above.key
),

asking AS (
  SELECT users.*
  FROM users
  SEMI JOIN requests ON users.key = requests.model_call
),

mixed AS (
  SELECT DISTINCT
    users.run,
    users.call_id
  FROM users
  SEMI JOIN executions USING (key)
  ANTI JOIN asking USING (run, call_id, agent_name)
),

-- The agent that uses an id; '' for the whole run.
scopes AS (
  SELECT
    users.run,
    users.call_id,
    users.key,
    if(mixed.run IS NULL, users.agent_name, '') AS scope
  FROM users
  LEFT JOIN mixed USING (run, call_id)
),

rounds AS (
  SELECT
    requests.run,
    requests.call_id,
    scopes.scope,
    requests.model_call,
    any_value(requests.request) AS request,
    count(*) AS requests,
    -- If the clock is behind, the first model call is taken.
    if(
      min(requests.start_ns)
      = min(min(requests.start_ns)) OVER (
        PARTITION BY requests.run, requests.call_id, scopes.scope
      ),
      0,
      min(requests.start_ns)
    ) AS from_ns,
    row_number() OVER (
      PARTITION BY requests.run, requests.call_id, scopes.scope
      ORDER BY min(requests.start_ns), requests.model_call
    ) AS position,
    count(*) OVER (PARTITION BY requests.run, requests.call_id, scopes.scope) AS rounds
  FROM requests
  INNER JOIN scopes
    ON
      requests.run = scopes.run
      AND requests.call_id = scopes.call_id
      AND requests.model_call = scopes.key
  GROUP BY requests.run, requests.call_id, scopes.scope, requests.model_call
),

placed AS (
  SELECT
    executions.key,
    executions.run,
    executions.call_id,
    scopes.scope,
    executions.start_ns,
    row_number() OVER (
      PARTITION BY executions.run, executions.call_id, scopes.scope
      ORDER BY executions.start_ns, executions.key
    ) AS position,
    count(*) OVER (PARTITION BY executions.run, executions.call_id, scopes.scope) AS executions
  FROM executions
  INNER JOIN scopes USING (run, call_id, key)
),

in_order AS (
  SELECT
    placed.key,
    rounds.request,
    rounds.requests
  FROM placed
  INNER JOIN rounds USING (run, call_id, scope, position)
  WHERE placed.executions = rounds.rounds
),

by_time AS (
  SELECT
    placed.key,
    rounds.request,
    rounds.requests,
    row_number() OVER (PARTITION BY rounds.request ORDER BY placed.position) AS occurrence
  FROM placed
  ASOF JOIN rounds
    ON
      placed.run = rounds.run
      AND placed.call_id = rounds.call_id
      AND placed.scope = rounds.scope
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
