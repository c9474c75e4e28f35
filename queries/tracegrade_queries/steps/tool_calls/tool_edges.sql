-- Tool spans to the one that records the same call from further outside or earlier.
--
-- Reads:
--   nested_tool_edges
--   tool_twin_edges
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
FROM tool_twin_edges;
