-- Model calls that play the user in an agent's trace: they are not the agent's work.
--
-- Benchmarks such as τ²-bench let a model speak as the user, and its calls are in one trace with
-- the agent's. Its instructions show it (`plays_user`). If all model calls of a trace play the
-- user, they are the agent's own work.
--
-- Reads:
--   dialect_messages
--   working_operations
-- Needs:
--   working_operations WHERE operation = 'model'
-- Columns:
--   key  BIGINT  One row each.
-- Order:
--   none
WITH instructions AS (
  SELECT
    dialect_messages.key,
    dialect_messages.text[1:300] AS text
  FROM dialect_messages
  WHERE
    dialect_messages.direction = 'in'
    AND dialect_messages.role IN ('system', 'developer')
    AND dialect_messages.part_type = 'text'
),

-- Many calls have the same instructions.
texts AS (
  SELECT DISTINCT text
  FROM instructions
),

playing AS (
  SELECT text
  FROM texts
  WHERE plays_user(text)
),

users AS (
  SELECT DISTINCT instructions.key
  FROM instructions
  SEMI JOIN playing USING (text)
),

agents AS (
  SELECT DISTINCT working_operations.trace_id
  FROM working_operations
  ANTI JOIN users USING (key)
  WHERE working_operations.operation = 'model'
)

SELECT working_operations.key
FROM working_operations
INNER JOIN users USING (key)
INNER JOIN agents USING (trace_id)
WHERE working_operations.operation = 'model';
