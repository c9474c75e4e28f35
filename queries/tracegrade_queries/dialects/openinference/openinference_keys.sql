-- The attributes of each shape, each with its message and field; see `indexed_keys`.
--
-- Reads:
--   shapes
-- Order:
--   none
-- llm . input_messages . N . message . tool_calls . K . tool_call . function . name
CREATE OR REPLACE TEMP TABLE openinference_keys AS
FROM indexed_keys('shapes', '^llm\.(input|output)_messages\.', 'input_messages', 5);
