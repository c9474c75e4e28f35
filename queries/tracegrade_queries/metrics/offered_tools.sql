-- The tools that were offered in each trajectory.
--
-- Reads:
--   trajectories
-- Columns:
--   trajectory_id  VARCHAR  One row for each trajectory_id and tool_name.
--   tool_name      VARCHAR  Never NULL.
--   schema         VARCHAR  JSON Schema of its arguments; NULL if the trace does not carry one.
-- Order:
--   trajectory_id, tool_name
WITH offers AS (
  SELECT DISTINCT offered_tools
  FROM trajectories
  WHERE json_valid(offered_tools)
),

tools AS (
  SELECT
    offered_tools,
    unnest(json_extract(offered_tools, '$[*]')) AS tool
  FROM offers
),

described AS (
  SELECT
    offered_tools,
    json_extract_string(tool, '$.name') AS tool_name,
    -- Of a tool described twice in one run, the text that sorts first: any order gives the same.
    min(
      CASE
        WHEN json_type(tool, '$.parameters') = 'OBJECT'
          THEN json_extract(tool, '$.parameters')::VARCHAR
      END
    ) AS schema
  FROM tools
  GROUP BY offered_tools, tool_name
)

SELECT
  trajectories.trajectory_id,
  described.tool_name,
  described.schema
FROM trajectories
INNER JOIN described USING (offered_tools)
WHERE described.tool_name IS NOT NULL
ORDER BY trajectories.trajectory_id, described.tool_name;
