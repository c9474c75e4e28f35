-- Executions of tools that the user called, not the agent: of a call that a message of the user
-- requests, or that say so.
--
-- Reads:
--   message_parts
--   operations
--   user_requests
-- Needs:
--   message_parts WHERE role = 'user' AND part_type = 'tool_call' or user_requests
-- Columns:
--   key  BIGINT  One row each.
-- Order:
--   none
WITH asked AS (
  SELECT
    operations.trace_id,
    message_parts.call_id
  FROM message_parts
  INNER JOIN operations USING (key)
  WHERE message_parts.part_type = 'tool_call' AND message_parts.call_id IS NOT NULL
  GROUP BY operations.trace_id, message_parts.call_id
  HAVING bool_and(message_parts.role = 'user')
)

SELECT operations.key
FROM operations
INNER JOIN asked USING (trace_id, call_id)
WHERE operations.operation = 'tool'
UNION
SELECT key
FROM user_requests;
