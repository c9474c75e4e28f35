-- Names of sub-goals and tools whose words an answer may use to say that something was done.
--
-- Reads:
--   calls
--   claimable_sub_goals
-- Needs:
--   claimable_sub_goals
-- As:
--   view
-- Columns:
--   name     VARCHAR  One row for each name and is_tool.
--   is_tool  BOOLEAN  It names a tool, else a sub-goal.
-- Order:
--   name, is_tool
SELECT
  sub_goal AS name,
  FALSE AS is_tool
FROM claimable_sub_goals
UNION
SELECT
  tool_name AS name,
  TRUE AS is_tool
FROM claimable_sub_goals
UNION
SELECT
  tool_name AS name,
  TRUE AS is_tool
FROM calls
WHERE
  may_change
  AND NOT failed
  AND status <> 'interrupted'
  AND tool_name IS NOT NULL
  AND attempt_id IN (SELECT claimable_sub_goals.attempt_id FROM claimable_sub_goals)
ORDER BY name, is_tool;
