-- The way up from operations below an execution that was recorded before.
--
-- Reads:
--   known_parents
--   operations
--   tool_copies
-- Needs:
--   tool_copies
-- Ends:
--   copied_ends
-- Columns:
--   key   BIGINT
--   next  BIGINT
-- Order:
--   none
WITH traces AS (
  SELECT DISTINCT operations.trace_id
  FROM operations
  SEMI JOIN tool_copies USING (key)
)

SELECT
  known_parents.key,
  known_parents.parent AS next
FROM known_parents
INNER JOIN operations USING (key)
SEMI JOIN traces ON operations.trace_id = traces.trace_id
ANTI JOIN tool_copies ON known_parents.key = tool_copies.key
WHERE known_parents.parent IS NOT NULL;
