-- Tools that were offered to an agent that never called them: they cost tokens in each prompt.
--
-- Reads:
--   steps
--   trajectories
-- Columns:
--   agent_name    VARCHAR  NULL if none is named. One row for each agent_name and tool_name.
--   tool_name     VARCHAR
--   offered_in    BIGINT   Trajectories of the agent that offered the tool; at least 1.
--   schema_bytes  BIGINT   Length of its longest definition, as JSON.
-- Order:
--   offered_in DESC, agent_name, tool_name
WITH offers AS (
  SELECT
    agent_name,
    trajectory_id,
    unnest(offered_tools::JSON[]) AS tool
  FROM trajectories
  WHERE offered_tools IS NOT NULL
),

used AS (
  SELECT DISTINCT
    trajectories.agent_name,
    steps.tool_name
  FROM steps
  INNER JOIN trajectories USING (trajectory_id)
  WHERE steps.tool_name IS NOT NULL
)

SELECT
  offers.agent_name,
  offers.tool ->> '$.name' AS tool_name,
  count(DISTINCT offers.trajectory_id) AS offered_in,
  max(strlen(offers.tool::VARCHAR)) AS schema_bytes
FROM offers
ANTI JOIN used
  ON
    offers.agent_name IS NOT DISTINCT FROM used.agent_name
    AND (offers.tool ->> '$.name') = used.tool_name
GROUP BY offers.agent_name, offers.tool ->> '$.name'
ORDER BY offered_in DESC, offers.agent_name ASC, tool_name ASC;
