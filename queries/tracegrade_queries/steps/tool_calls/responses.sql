-- What the model saw of each call that it requested, from the first later input that contains it.
--
-- A response without a call id, or with one that no request was recorded with, belongs to the
-- request that is as far from the end of its message as the response is from the end of the next
-- call's input. A call that plans is no next call, and what a model saw of several requests at
-- once it saw of none of them.
--
-- Reads:
--   requests
--   model_parts
--   next_calls
--   shared_responses
-- Needs:
--   requests
-- Columns:
--   request   BIGINT   One row each.
--   observed  VARCHAR  NULL if the response was empty.
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
    coalesce(result, text) AS observed
  FROM model_parts
  WHERE direction = 'in' AND part_type = 'tool_call_response'
),

-- Every later call hears a response again: its text is taken from the first that does.
first_heard AS (
  SELECT
    requests.request,
    min(place_by(responses_seen.start_ns, responses_seen.model_call))
    FILTER (WHERE responses_seen.observed IS NOT NULL) AS place
  FROM requests
  INNER JOIN responses_seen
    ON
      requests.run = responses_seen.run
      AND requests.call_id = responses_seen.call_id
      AND requests.start_ns < responses_seen.start_ns
  GROUP BY requests.request
),

-- Where an id was used again, an input holds several responses: the last is the newest.
by_id AS (
  SELECT
    requests.request,
    arg_min(
      responses_seen.observed,
      place_by(-responses_seen.message_position, -responses_seen.part_position)
    ) AS observed
  FROM first_heard
  INNER JOIN requests USING (request)
  LEFT JOIN responses_seen
    ON
      requests.run = responses_seen.run
      AND requests.call_id = responses_seen.call_id
      AND first_heard.place = place_by(responses_seen.start_ns, responses_seen.model_call)
  GROUP BY requests.request
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
    row_number() OVER (
      PARTITION BY responses_seen.model_call
      ORDER BY responses_seen.message_position DESC, responses_seen.part_position DESC
    ) AS from_end
  FROM responses_seen
  ANTI JOIN requests USING (run, call_id)
)

SELECT
  request,
  observed
FROM by_id
UNION ALL
SELECT
  unnamed_requests.request,
  unnamed_responses.observed
FROM unnamed_requests
INNER JOIN unnamed_responses USING (model_call, from_end)
WHERE unnamed_requests.call_id IS NULL OR unnamed_responses.call_id IS NULL;
