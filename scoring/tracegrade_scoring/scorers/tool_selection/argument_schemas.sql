-- The JSON Schemas that tools are known to have, each once: what else names them by number.
--
-- Reads:
--   offered_tools
--   task_tools
-- Columns:
--   schema_index  INTEGER  Dense from 0 by text; one row each.
--   schema        VARCHAR  JSON.
-- Order:
--   schema_index
WITH schemas AS (
  SELECT schema
  FROM offered_tools
  UNION
  SELECT schema
  FROM task_tools
)

SELECT
  (row_number() OVER (ORDER BY schema) - 1)::INTEGER AS schema_index,
  schema
FROM schemas
WHERE schema IS NOT NULL
ORDER BY schema_index;
