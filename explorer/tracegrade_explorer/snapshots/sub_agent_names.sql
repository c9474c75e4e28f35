-- Models and tools that the sub-agents of each run called.
--
-- Reads:
--   run_members
--   steps
--   trajectories
-- Columns:
--   trajectory_id  VARCHAR    One row for each root run that has sub-agents.
--   models         VARCHAR[]  Without those that are not recorded.
--   tools          VARCHAR[]  As models.
-- Order:
--   trajectory_id
WITH sub_agents AS (
  SELECT
    root_id,
    trajectory_id
  FROM run_members
  WHERE root_id <> trajectory_id
),

tools AS (
  SELECT
    sub_agents.root_id,
    list(DISTINCT steps.tool_name) AS tools
  FROM steps
  INNER JOIN sub_agents ON steps.trajectory_id = sub_agents.trajectory_id
  WHERE steps.kind = 'tool_call' AND steps.tool_name IS NOT NULL
  GROUP BY sub_agents.root_id
),

models AS (
  SELECT
    sub_agents.root_id,
    list_distinct(
      flatten(
        list([usage.model FOR usage IN coalesce(trajectories.model_usage, [])])  -- noqa: RF01
      )
    ) AS models
  FROM trajectories
  INNER JOIN sub_agents ON trajectories.trajectory_id = sub_agents.trajectory_id
  GROUP BY sub_agents.root_id
)

SELECT
  models.root_id AS trajectory_id,
  models.models,
  coalesce(tools.tools, []) AS tools
FROM models
LEFT JOIN tools ON models.root_id = tools.root_id
ORDER BY models.root_id;
