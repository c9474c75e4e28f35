-- Traces in which several records have one id of a call or of a model's response.
--
-- The spans of one call that are nested in one another are one record. An imported transcript
-- holds each message once, so an id in two of its messages does not mean a copy.
--
-- Reads:
--   dialect_messages
--   known_parents
--   model_ends
--   operations
--   response_ids
-- Columns:
--   trace_id  VARCHAR  One row each.
-- Order:
--   none
WITH model_spans AS (
  SELECT
    operations.key,
    operations.trace_id,
    coalesce(model_ends.last, operations.key) AS record
  FROM operations
  LEFT JOIN model_ends USING (key)
  WHERE
    operations.operation = 'model'
    AND operations.scope_name IS DISTINCT FROM 'tracegrade.import'
),

answers AS (
  SELECT model_spans.trace_id
  FROM model_spans
  INNER JOIN response_ids USING (key)
  GROUP BY model_spans.trace_id, response_ids.response_id
  HAVING min(model_spans.record) <> max(model_spans.record)
),

requests AS (
  SELECT model_spans.trace_id
  FROM model_spans
  INNER JOIN dialect_messages USING (key)
  WHERE
    dialect_messages.direction = 'out'
    AND dialect_messages.part_type = 'tool_call'
    AND dialect_messages.call_id <> ''
  GROUP BY model_spans.trace_id, dialect_messages.call_id
  HAVING min(model_spans.record) <> max(model_spans.record)
),

executions AS (
  SELECT operations.trace_id
  FROM operations
  INNER JOIN known_parents USING (key)
  WHERE
    operations.operation = 'tool'
    AND operations.scope_name IS DISTINCT FROM 'tracegrade.import'
    AND operations.call_id IS NOT NULL
    AND known_parents.parent_operation IS DISTINCT FROM 'tool'
  GROUP BY operations.trace_id, operations.call_id
  HAVING count(*) > 1
)

SELECT trace_id
FROM answers
UNION
SELECT trace_id
FROM requests
UNION
SELECT trace_id
FROM executions;
