-- Pairs of tools that were called one after the other, most frequent first.
--
-- Reads:
--   steps
-- Columns:
--   tool_name     VARCHAR  One row for each tool_name and next_tool.
--   next_tool     VARCHAR  (start) comes before the first call and (end) after the last.
--   pairs         BIGINT   At least 1.
--   share         DOUBLE   pairs / all pairs that begin with tool_name, in (0, 1].
--   trajectories  BIGINT   Trajectories that contain the pair.
-- Order:
--   pairs DESC, tool_name, next_tool
WITH calls AS (
  SELECT
    trajectory_id,
    tool_name,
    lead(tool_name, 1, '(end)') OVER trajectory_calls AS next_tool,
    row_number() OVER trajectory_calls = 1 AS is_first
  FROM steps
  WHERE kind = 'tool_call'
  WINDOW trajectory_calls AS (PARTITION BY trajectory_id ORDER BY step_index)
),

pairs AS (
  SELECT
    trajectory_id,
    tool_name,
    next_tool
  FROM calls
  UNION ALL
  SELECT
    trajectory_id,
    '(start)' AS tool_name,
    tool_name AS next_tool
  FROM calls
  WHERE is_first
)

SELECT
  tool_name,
  next_tool,
  count(*) AS pairs,
  count(*) / sum(count(*)) OVER (PARTITION BY tool_name) AS share,
  count(DISTINCT trajectory_id) AS trajectories
FROM pairs
GROUP BY tool_name, next_tool
ORDER BY pairs DESC, tool_name ASC, next_tool ASC;
