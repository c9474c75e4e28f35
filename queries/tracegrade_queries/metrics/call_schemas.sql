-- The JSON Schema that the arguments of each call must satisfy, where one is known.
--
-- The schema that the run itself carries comes first, then the registry's.
--
-- Reads:
--   calls
--   offered_tools
--   offers
--   task_tools
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id and call_index with a known schema.
--   call_index  INTEGER  The call.
--   schema      VARCHAR  JSON.
--   arguments   VARCHAR  Canonical JSON; NULL if not captured or no JSON.
-- Order:
--   attempt_id, call_index
SELECT
  calls.attempt_id,
  calls.call_index,
  coalesce(offered_tools.schema, task_tools.schema) AS schema,
  if(calls.parsed AND NOT calls.content_missing, calls.arguments, NULL) AS arguments
FROM calls
LEFT JOIN offers ON calls.trajectory_id = offers.trajectory_id
LEFT JOIN offered_tools
  ON offers.offer = offered_tools.offer AND calls.tool_name = offered_tools.tool_name
LEFT JOIN task_tools ON calls.tool_name = task_tools.tool_name
WHERE coalesce(offered_tools.schema, task_tools.schema) IS NOT NULL
ORDER BY calls.attempt_id, calls.call_index;
