-- The attributes of each shape, each with its message and field; see `indexed_keys`.
--
-- Reads:
--   shapes
-- Order:
--   none
-- gen_ai . prompt . N . tool_calls . K . name
CREATE OR REPLACE TEMP TABLE traceloop_keys AS
FROM indexed_keys('shapes', '^gen_ai\.(prompt|completion)\.\d+\.', 'prompt', 4);
