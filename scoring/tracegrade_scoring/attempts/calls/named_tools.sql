-- The tools that the task files name, wherever they do.
--
-- Source: docs/metrics.md, section 0.8.
--
-- Reads:
--   task_expected
--   task_serves
--   task_sub_goals
--   task_tools
--   tasks
-- Columns:
--   tool_name  VARCHAR  One row each; never NULL.
-- Order:
--   none
WITH names AS (
  SELECT unnest(list_prepend(tool_name, alternatives)) AS tool_name
  FROM task_tools
  UNION
  SELECT unnest(list_prepend(tool_name, accept)) AS tool_name
  FROM task_expected
  UNION
  SELECT tool_name
  FROM task_serves
  UNION
  SELECT unnest(regexp_extract_all(success, '"tool":\s*"([^"]+)"', 1)) AS tool_name
  FROM tasks
  UNION
  SELECT unnest(regexp_extract_all(success, '"tool":\s*"([^"]+)"', 1)) AS tool_name
  FROM task_sub_goals
  UNION
  -- And in SQL, with their servers.
  SELECT unnest(regexp_extract_all(success, 'mcp__[\w.-]+')) AS tool_name
  FROM tasks
  UNION
  SELECT unnest(regexp_extract_all(success, 'mcp__[\w.-]+')) AS tool_name
  FROM task_sub_goals
)

SELECT tool_name
FROM names
WHERE tool_name IS NOT NULL;
