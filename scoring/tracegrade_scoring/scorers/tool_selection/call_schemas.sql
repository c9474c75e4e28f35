-- The JSON Schema that the arguments of each call must satisfy, where one is known.
--
-- The schema that the run itself carries comes first, then the registry's.
--
-- Reads:
--   argument_schemas
--   calls
--   offered_tools
--   offers
--   task_tools
-- As:
--   view
-- Columns:
--   attempt_id       INTEGER  One row for each attempt_id and call_index with a known schema.
--   call_index       INTEGER  The call.
--   schema_index     INTEGER  As of argument_schemas.
--   content_missing  BOOLEAN  The arguments were not captured.
--   arguments        VARCHAR  Canonical JSON, else as sent; NULL if not captured.
-- Order:
--   attempt_id, call_index
WITH carried AS (
  SELECT
    offered_tools.offer,
    offered_tools.tool_name,
    argument_schemas.schema_index
  FROM offered_tools
  INNER JOIN argument_schemas USING (schema)
),

registered AS (
  SELECT
    task_tools.tool_name,
    argument_schemas.schema_index
  FROM task_tools
  INNER JOIN argument_schemas USING (schema)
)

SELECT
  calls.attempt_id,
  calls.call_index,
  coalesce(carried.schema_index, registered.schema_index) AS schema_index,
  calls.content_missing,
  if(calls.content_missing, NULL, calls.arguments) AS arguments
FROM calls
LEFT JOIN offers ON calls.trajectory_id = offers.trajectory_id
LEFT JOIN carried ON offers.offer = carried.offer AND calls.tool_name = carried.tool_name
LEFT JOIN registered ON calls.tool_name = registered.tool_name
WHERE coalesce(carried.schema_index, registered.schema_index) IS NOT NULL
ORDER BY calls.attempt_id, calls.call_index;
