-- Tools that were offered in each run, by its agents and its model calls.
--
-- Reads:
--   operations
--   runs_of_operations
--   tool_lists
-- Columns:
--   trajectory_id  VARCHAR    One row each; runs that offer nothing known have none.
--   names          VARCHAR[]  In the order first offered.
--   offered_tools  VARCHAR    JSON list of their definitions, the first of each name.
-- Order:
--   none
WITH offers AS (
  SELECT
    runs_of_operations.trajectory_id,
    operations.offered_tools,
    min((operations.start_ns, operations.span_id)) AS first_offered
  FROM operations
  INNER JOIN runs_of_operations USING (key)
  WHERE operations.offered_tools IS NOT NULL
  GROUP BY runs_of_operations.trajectory_id, operations.offered_tools
),

tools AS (
  SELECT
    offers.trajectory_id,
    offers.first_offered,
    unnest(tool_lists.names) AS name,
    unnest(tool_lists.tools) AS tool,
    generate_subscripts(tool_lists.names, 1) AS position
  FROM offers
  INNER JOIN tool_lists USING (offered_tools)
),

first_tools AS (
  SELECT
    trajectory_id,
    name,
    min((first_offered, position)) AS first_place,
    arg_min(tool, (first_offered, position)) AS tool
  FROM tools
  GROUP BY trajectory_id, name
)

SELECT
  trajectory_id,
  list(name ORDER BY first_place) AS names,
  '[' || string_agg(tool::VARCHAR, ',' ORDER BY first_place) || ']' AS offered_tools
FROM first_tools
GROUP BY trajectory_id;
