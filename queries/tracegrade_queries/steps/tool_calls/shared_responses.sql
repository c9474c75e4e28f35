-- Observations of everything that one model call did.
--
-- They cover code, which may call no tool or several, and several requests that one response
-- without a call id answers.
--
-- Reads:
--   model_parts
--   next_calls
--   requests
-- Needs:
--   model_parts WHERE direction = 'out' AND part_type IN ('code', 'tool_call') GROUP BY
--     model_call HAVING count(*) > 1 OR min(part_type) = 'code'
-- Columns:
--   model_call  BIGINT   One row each.
--   run         BIGINT
--   is_code     BOOLEAN
--   requests    BIGINT   Tools that the model call requested; more than 1 unless it is code.
--   next_ns     BIGINT   Start of the model call that saw it.
--   observed    VARCHAR  NULL if it was empty.
-- Order:
--   none
WITH request_counts AS (
  SELECT
    model_call,
    count(*) AS requests
  FROM requests
  GROUP BY model_call
),

codes AS (
  SELECT DISTINCT
    model_call,
    TRUE AS is_code
  FROM model_parts
  WHERE direction = 'out' AND part_type = 'code'
),

candidates AS (
  SELECT
    model_call,
    coalesce(codes.is_code, FALSE) AS is_code,
    coalesce(request_counts.requests, 0) AS requests
  FROM codes
  FULL JOIN request_counts USING (model_call)
  WHERE codes.is_code OR request_counts.requests > 1
),

candidate_runs AS (
  SELECT DISTINCT next_calls.run
  FROM next_calls
  SEMI JOIN candidates USING (model_call)
),

unnamed AS (
  SELECT
    model_parts.model_call,
    count(*) AS responses,
    arg_max(
      coalesce(model_parts.result, model_parts.text),
      (model_parts.message_position, model_parts.part_position)
    ) AS last_response
  FROM model_parts
  SEMI JOIN candidate_runs USING (run)
  ANTI JOIN requests USING (run, call_id)
  WHERE model_parts.direction = 'in' AND model_parts.part_type = 'tool_call_response'
  GROUP BY model_parts.model_call
)

SELECT
  candidates.model_call,
  next_calls.run,
  candidates.is_code,
  candidates.requests,
  next_calls.next_ns,
  later.last_response AS observed
FROM candidates
INNER JOIN next_calls USING (model_call)
INNER JOIN unnamed AS later ON next_calls.next_call = later.model_call
LEFT JOIN unnamed AS earlier ON candidates.model_call = earlier.model_call
-- Each of several requests may have a response of its own; an input repeats all earlier ones.
WHERE
  CASE
    WHEN candidates.is_code THEN later.responses > coalesce(earlier.responses, 0)
    ELSE later.responses = coalesce(earlier.responses, 0) + 1
  END;
