-- Requests of model calls that failed and were made again, as after a broken stream.
--
-- The output of a failed model call is not a request under two conditions: the run continued with
-- another model call, and the call had no effect in between. That means no execution with its id
-- (without an id, none of this tool), and no result in the next call's input that the failed
-- call's input lacked.
--
-- Reads:
--   model_members
--   model_parts
--   next_calls
--   operations
--   operation_runs
-- Needs:
--   operations WHERE operation = 'model' AND failed
-- Columns:
--   model_call        BIGINT
--   message_position  BIGINT  One row each, with the part's position.
--   part_position     BIGINT
-- Order:
--   none
WITH broken_calls AS (
  SELECT
    model_members.model_call,
    min(operations.start_ns) AS start_ns,
    max(operations.end_ns) AS end_ns
  FROM operations
  INNER JOIN model_members USING (key)
  WHERE
    model_members.model_call IN (
      SELECT members.model_call
      FROM operations AS failures
      INNER JOIN model_members AS members USING (key)
      WHERE failures.operation = 'model' AND failures.failed
    )
  GROUP BY model_members.model_call
  HAVING bool_and(operations.failed)
),

made_again AS (
  SELECT
    broken_calls.model_call,
    broken_calls.start_ns,
    next_calls.run,
    next_calls.next_call,
    next_calls.next_ns
  FROM broken_calls
  INNER JOIN next_calls USING (model_call)
  WHERE next_calls.next_ns >= broken_calls.end_ns
),

requested AS (
  SELECT
    made_again.*,
    model_parts.message_position,
    model_parts.part_position,
    model_parts.tool_name,
    model_parts.call_id
  FROM made_again
  INNER JOIN model_parts USING (model_call)
  WHERE model_parts.direction = 'out' AND model_parts.part_type = 'tool_call'
),

executed AS (
  SELECT DISTINCT
    requested.model_call,
    requested.message_position,
    requested.part_position
  FROM requested
  INNER JOIN operation_runs ON requested.run = operation_runs.run
  INNER JOIN operations ON operation_runs.key = operations.key
  WHERE
    operations.operation = 'tool'
    AND operations.start_ns >= requested.start_ns
    AND operations.start_ns < requested.next_ns
    AND coalesce(
      operations.call_id = requested.call_id,
      operations.tool_name = requested.tool_name,
      TRUE
    )
),

results AS (
  SELECT
    model_call,
    call_id,
    count(*) AS results
  FROM model_parts
  WHERE
    direction = 'in'
    AND part_type = 'tool_call_response'
    AND model_call IN (
      SELECT requested.model_call FROM requested
      UNION
      SELECT requested.next_call FROM requested
    )
  GROUP BY model_call, call_id
)

SELECT
  requested.model_call,
  requested.message_position,
  requested.part_position
FROM requested
ANTI JOIN executed USING (model_call, message_position, part_position)
LEFT JOIN results AS before
  ON
    requested.model_call = before.model_call
    AND requested.call_id IS NOT DISTINCT FROM before.call_id
LEFT JOIN results AS after
  ON
    requested.next_call = after.model_call
    AND requested.call_id IS NOT DISTINCT FROM after.call_id
WHERE coalesce(after.results, 0) <= coalesce(before.results, 0);
