-- The tools of each offer.
--
-- Reads:
--   trajectories
-- Columns:
--   offer      INTEGER  As of offers; one row for each offer and tool_name.
--   tool_name  VARCHAR  Never NULL.
--   schema     VARCHAR  JSON Schema of its arguments; NULL if the trace does not carry one.
-- Order:
--   offer, tool_name
-- Few texts stand behind many runs. As an aggregate of its group each is read once, not in each.
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
    -- Of a tool described twice in one run, the text that sorts first: any order gives the same.
    min(
      CASE
        WHEN json_type(tool, '$.parameters') = 'OBJECT'
          THEN json_extract(tool, '$.parameters')::VARCHAR
      END
    ) AS schema
  FROM tools
  GROUP BY offer, tool_name
)

SELECT
  offer,
  tool_name,
  schema
FROM described
WHERE tool_name IS NOT NULL
ORDER BY offer, tool_name;
