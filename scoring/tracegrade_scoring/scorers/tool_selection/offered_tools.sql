-- The tools of each offer; tools of MCP servers have the names that task files use.
--
-- Source: docs/metrics.md, section 0.8.
--
-- Reads:
--   named_tools
--   trajectories
-- Columns:
--   offer      INTEGER  As of offers; one row for each offer and tool_name.
--   tool_name  VARCHAR  Never NULL.
--   schema     VARCHAR  JSON Schema of its arguments; NULL if the trace does not carry one.
-- Order:
--   offer, tool_name
-- Many runs share few texts. Each text is read once for its group, not once for each run.
WITH texts AS (
  SELECT
    min(trajectory_id) AS offer,
    any_value(offered_tools)::VARCHAR AS tools
  FROM trajectories
  WHERE offered_tools IS NOT NULL
  GROUP BY offered_tools
),

tools AS (
  SELECT
    offer,
    unnest(json_extract(tools, '$[*]')) AS tool
  FROM texts
  WHERE json_valid(tools)
),

described AS (
  SELECT
    offer,
    json_extract_string(tool, '$.name') AS tool_name,
    -- If a run describes a tool twice, the text that sorts first counts, so any order gives the
    -- same result.
    min(
      CASE
        WHEN json_type(tool, '$.parameters') = 'OBJECT'
          THEN json_extract(tool, '$.parameters')::VARCHAR
      END
    ) AS schema
  FROM tools
  GROUP BY offer, tool_name
),

alike AS (
  SELECT
    offer,
    plain_tool(tool_name) AS plain_name,
    min(tool_name) AS tool_name
  FROM described
  WHERE tool_name IS NOT NULL
  GROUP BY offer, plain_tool(tool_name)
  HAVING count(*) = 1
),

named AS (
  SELECT
    described.offer,
    if(
      alike.plain_name IN (SELECT named_tools.tool_name FROM named_tools)
      AND described.tool_name NOT IN (SELECT named_tools.tool_name FROM named_tools),
      alike.plain_name,
      described.tool_name
    ) AS tool_name,
    described.schema
  FROM described
  LEFT JOIN alike USING (offer, tool_name)
  WHERE described.tool_name IS NOT NULL
)

SELECT
  offer,
  tool_name,
  schema
FROM named
ORDER BY offer, tool_name;
