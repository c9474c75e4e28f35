-- Model calls outside every agent that requested calls which a later run of their trace resumes.
--
-- An agent that resumes after a pause may begin a run of its own, whose first messages are the
-- request and its result. The model call that requested it then has no agent's span. It belongs to
-- that run, as a call outside the agent's span.
--
-- Reads:
--   dialect_messages
--   operations
--   placed_below_callers
-- Needs:
--   operations WHERE operation = 'model' AND key NOT IN (SELECT key FROM placed_below_callers)
-- Columns:
--   key            BIGINT   One row each.
--   run            BIGINT   The first run that was given a result of it.
--   outside_agent  BOOLEAN  True.
-- Order:
--   none
WITH strays AS (
  SELECT
    operations.key,
    operations.trace_id,
    operations.start_ns
  FROM operations
  ANTI JOIN placed_below_callers USING (key)
  WHERE operations.operation = 'model'
),

requested AS (
  SELECT DISTINCT
    strays.*,
    dialect_messages.call_id
  FROM strays
  INNER JOIN dialect_messages USING (key)
  WHERE
    dialect_messages.direction = 'out'
    AND dialect_messages.part_type = 'tool_call'
    AND dialect_messages.call_id <> ''
),

given AS (
  SELECT
    operations.trace_id,
    operations.start_ns,
    placed_below_callers.run,
    dialect_messages.call_id
  FROM operations
  INNER JOIN placed_below_callers USING (key)
  INNER JOIN dialect_messages USING (key)
  WHERE
    operations.operation = 'model'
    AND operations.trace_id IN (SELECT requested.trace_id FROM requested)
    AND dialect_messages.direction = 'in'
    AND dialect_messages.part_type = 'tool_call_response'
)

SELECT
  requested.key,
  arg_min(given.run, (given.start_ns, given.run)) AS run,
  TRUE AS outside_agent
FROM requested
INNER JOIN given
  ON
    requested.trace_id = given.trace_id
    AND requested.call_id = given.call_id
    AND requested.start_ns < given.start_ns
GROUP BY requested.key;
