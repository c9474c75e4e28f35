-- Spans that a dialect recognizes, with a tool that is a whole run as an agent without a name.
--
-- The columns are those of found_operations.
--
-- Reads:
--   wrapping_tools
-- Takes:
--   found_operations
-- Needs:
--   wrapping_tools
-- Order:
--   none
UPDATE rooted_operations
SET
  operation = 'agent',
  tool_name = NULL,
  arguments = NULL,
  result = NULL
WHERE key IN (SELECT wrapping_tools.key FROM wrapping_tools);
