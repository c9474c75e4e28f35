-- Executions of tools that the user called instead of the agent.
--
-- A message of the user requests the call, or the span states it. Without an id, the tool must be
-- one that only the user requests.
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
WITH requested AS (
  SELECT
    operations.trace_id,
    message_parts.call_id,
    message_parts.tool_name,
    message_parts.role = 'user' AS by_user
  FROM message_parts
  INNER JOIN operations USING (key)
  WHERE message_parts.part_type = 'tool_call'
),

requested_by_user AS (
  SELECT
    trace_id,
    call_id
  FROM requested
  WHERE call_id IS NOT NULL
  GROUP BY trace_id, call_id
  HAVING bool_and(by_user)
),

tools_requested_by_user AS (
  SELECT
    trace_id,
    tool_name
  FROM requested
  GROUP BY trace_id, tool_name
  HAVING bool_and(by_user)
)

SELECT operations.key
FROM operations
INNER JOIN requested_by_user USING (trace_id, call_id)
WHERE operations.operation = 'tool'
UNION
SELECT operations.key
FROM operations
INNER JOIN tools_requested_by_user USING (trace_id, tool_name)
WHERE operations.operation = 'tool' AND operations.call_id IS NULL
UNION
SELECT key
FROM user_requests;
