-- Edges from tool spans to a span of the same call: further outside, earlier, or after a pause.
--
-- Reads:
--   nested_tool_edges
--   resumed_tool_edges
--   tool_twin_edges
-- Ends:
--   tool_ends
-- Columns:
--   key   BIGINT  One row each.
--   next  BIGINT
-- Order:
--   none
SELECT
  key,
  next
FROM nested_tool_edges
UNION ALL
SELECT
  key,
  next
FROM tool_twin_edges
UNION ALL
SELECT
  resumed_tool_edges.key,
  resumed_tool_edges.next
FROM resumed_tool_edges
ANTI JOIN nested_tool_edges ON resumed_tool_edges.key = nested_tool_edges.key
ANTI JOIN tool_twin_edges ON resumed_tool_edges.key = tool_twin_edges.key;
