-- The model's observation of each call, from the first later input that contains it.
--
-- If an id was used again, that input is received before the next output that used it, and its
-- responses are those below the last call with this id in it. If several requests of one model
-- call have one id, the last request has the last response. Agents of one run that use the same id
-- receive their own responses, and those of agents that never used it.
--
-- A response may have no call id, or one that no request has. Then it belongs to the request that
-- is as far from the end of its message as the response is from the end of the next call's input.
-- A call that plans is not a next call. An observation of several requests at once belongs to none
-- of them.
--
-- Reads:
--   model_calls
--   requests
--   model_parts
--   next_calls
--   shared_responses
--   operations
--   name_ends
-- Needs:
--   requests
-- Columns:
--   request   BIGINT   One row each.
--   observed  VARCHAR  NULL if the response was empty.
--   failed    BOOLEAN  The source says that the call failed. Never NULL.
-- Order:
--   none
WITH responses_seen AS NOT MATERIALIZED (
  SELECT
    run,
    model_call,
    start_ns,
    call_id,
    tool_name,
    message_position,
    part_position,
    coalesce(result, text) AS observed,
    coalesce(failed, FALSE) AS failed
  FROM model_parts
  WHERE direction = 'in' AND part_type = 'tool_call_response'
),

used_again AS (
  SELECT
    run,
    call_id
  FROM requests
  WHERE call_id IS NOT NULL
  GROUP BY run, call_id
  HAVING count(*) > 1
),

-- Every later call receives a response again: its text is taken from the first one.
first_received AS (
  SELECT
    requests.request,
    min(pair_order(responses_seen.start_ns, responses_seen.model_call))
    FILTER (WHERE responses_seen.observed IS NOT NULL OR responses_seen.failed) AS position
  FROM requests
  ANTI JOIN used_again USING (run, call_id)
  INNER JOIN responses_seen
    ON
      requests.run = responses_seen.run
      AND requests.call_id = responses_seen.call_id
      AND requests.start_ns < responses_seen.start_ns
  GROUP BY requests.request
),

-- If one input has several, the last is the newest.
by_own_id AS (
  SELECT
    requests.request,
    arg_min(
      responses_seen.observed,
      pair_order(-responses_seen.message_position, -responses_seen.part_position)
    ) AS observed,
    coalesce(
      arg_min(
        responses_seen.failed,
        pair_order(-responses_seen.message_position, -responses_seen.part_position)
      ),
      FALSE
    ) AS failed
  FROM first_received
  INNER JOIN requests USING (request)
  LEFT JOIN responses_seen
    ON
      requests.run = responses_seen.run
      AND requests.call_id = responses_seen.call_id
      AND first_received.position = pair_order(responses_seen.start_ns, responses_seen.model_call)
  GROUP BY requests.request
),

used_requests AS (
  SELECT requests.*
  FROM requests
  SEMI JOIN used_again USING (run, call_id)
),

naming AS (
  SELECT
    key,
    agent_name
  FROM operations
  WHERE agent_name IS NOT NULL
),

callers AS (
  SELECT
    model_calls.model_call,
    coalesce(own.agent_name, above.agent_name, '') AS agent_name
  FROM model_calls
  SEMI JOIN used_again USING (run)
  LEFT JOIN naming AS own ON model_calls.model_call = own.key
  LEFT JOIN name_ends ON model_calls.model_call = name_ends.key
  LEFT JOIN naming AS above ON name_ends.last = above.key
),

rounds AS (
  SELECT
    used_requests.run,
    used_requests.call_id,
    used_requests.model_call,
    callers.agent_name,
    lead(min(used_requests.start_ns)) OVER (
      PARTITION BY used_requests.run, used_requests.call_id
      ORDER BY min(used_requests.start_ns), used_requests.model_call
    ) AS next_ns,
    lead(min(used_requests.start_ns)) OVER (
      PARTITION BY used_requests.run, used_requests.call_id, callers.agent_name
      ORDER BY min(used_requests.start_ns), used_requests.model_call
    ) AS own_next_ns
  FROM used_requests
  INNER JOIN callers USING (model_call)
  GROUP BY
    used_requests.run, used_requests.call_id, used_requests.model_call, callers.agent_name
),

-- Agents that use an id receive the results of their own call with it.
users AS (
  SELECT DISTINCT
    run,
    call_id,
    agent_name
  FROM rounds
),

repeated_requests AS (
  SELECT
    model_parts.model_call,
    model_parts.call_id,
    max(pair_order(model_parts.message_position, model_parts.part_position)) AS position
  FROM model_parts
  SEMI JOIN used_again USING (run, call_id)
  WHERE model_parts.direction = 'in' AND model_parts.part_type = 'tool_call'
  GROUP BY model_parts.model_call, model_parts.call_id
),

round_responses AS (
  SELECT
    rounds.model_call AS requesting,
    responses_seen.*,
    row_number() OVER (
      PARTITION BY rounds.model_call, responses_seen.call_id, responses_seen.model_call
      ORDER BY responses_seen.message_position DESC, responses_seen.part_position DESC
    ) AS from_end,
    count(*) OVER (
      PARTITION BY rounds.model_call, responses_seen.call_id, responses_seen.model_call
    ) AS responses
  FROM rounds
  INNER JOIN responses_seen
    ON rounds.run = responses_seen.run AND rounds.call_id = responses_seen.call_id
  INNER JOIN model_calls ON rounds.model_call = model_calls.model_call
  INNER JOIN callers ON responses_seen.model_call = callers.model_call
  LEFT JOIN users
    ON
      responses_seen.run = users.run
      AND responses_seen.call_id = users.call_id
      AND callers.agent_name = users.agent_name
  LEFT JOIN repeated_requests
    ON
      responses_seen.model_call = repeated_requests.model_call
      AND responses_seen.call_id = repeated_requests.call_id
  WHERE
    responses_seen.start_ns > model_calls.start_ns
    AND (users.agent_name IS NULL OR users.agent_name = rounds.agent_name)
    AND responses_seen.start_ns <= coalesce(
      if(users.agent_name IS NULL, rounds.next_ns, rounds.own_next_ns), responses_seen.start_ns
    )
    AND pair_order(responses_seen.message_position, responses_seen.part_position)
    > coalesce(repeated_requests.position, pair_order(-1, 0))
),

numbered_again AS (
  SELECT
    requests.request,
    requests.model_call,
    requests.call_id,
    row_number() OVER (
      PARTITION BY requests.model_call, requests.call_id ORDER BY requests.request DESC
    ) AS from_end
  FROM requests
  SEMI JOIN used_again USING (run, call_id)
),

by_used_id AS (
  SELECT
    numbered_again.request,
    arg_min(
      round_responses.observed, pair_order(round_responses.start_ns, round_responses.model_call)
    ) AS observed,
    coalesce(
      arg_min(
        round_responses.failed, pair_order(round_responses.start_ns, round_responses.model_call)
      ),
      FALSE
    ) AS failed
  FROM numbered_again
  INNER JOIN round_responses
    ON
      numbered_again.model_call = round_responses.requesting
      AND numbered_again.call_id = round_responses.call_id
      AND least(numbered_again.from_end, round_responses.responses) = round_responses.from_end
  GROUP BY numbered_again.request
),

by_id AS (
  SELECT *
  FROM by_own_id
  UNION ALL
  SELECT *
  FROM by_used_id
),

unnamed_requests AS (
  SELECT
    requests.request,
    requests.call_id,
    next_calls.next_call AS model_call,
    row_number() OVER (PARTITION BY requests.model_call ORDER BY requests.request DESC)
      AS from_end
  FROM requests
  INNER JOIN next_calls USING (model_call)
  ANTI JOIN by_id USING (request)
  LEFT JOIN shared_responses ON requests.model_call = shared_responses.model_call
  WHERE coalesce(shared_responses.requests, 1) = 1
),

unnamed_responses AS (
  SELECT
    responses_seen.model_call,
    responses_seen.call_id,
    responses_seen.observed,
    responses_seen.failed,
    row_number() OVER (
      PARTITION BY responses_seen.model_call
      ORDER BY responses_seen.message_position DESC, responses_seen.part_position DESC
    ) AS from_end
  FROM responses_seen
  ANTI JOIN requests USING (run, call_id)
)

SELECT
  request,
  observed,
  failed
FROM by_id
UNION ALL
SELECT
  unnamed_requests.request,
  unnamed_responses.observed,
  unnamed_responses.failed
FROM unnamed_requests
INNER JOIN unnamed_responses USING (model_call, from_end)
WHERE unnamed_requests.call_id IS NULL OR unnamed_responses.call_id IS NULL;
