-- Tools that were offered in each run, by its agents and its model calls.
--
-- Runs usually offer the same texts in the same order, so each such offer is merged once.
--
-- Reads:
--   operations
--   operation_runs
--   tool_lists
-- Needs:
--   tool_lists
-- Columns:
--   run            BIGINT     One row each; runs that offer nothing known have none.
--   names          VARCHAR[]  In the order first offered.
--   bare_names     VARCHAR[]  Names of tools without arguments; NULL if no such tool is known.
--   offered_tools  VARCHAR    JSON list of their definitions, the first of each name.
-- Order:
--   none
WITH lists AS (
  SELECT
    operation_runs.run,
    tool_lists.rowid AS tool_list,
    min((operations.start_ns, operations.span_id)) AS first_offered
  FROM operations
  INNER JOIN operation_runs USING (key)
  INNER JOIN tool_lists USING (offered_tools)
  GROUP BY operation_runs.run, tool_lists.rowid
),

run_offers AS (
  SELECT
    run,
    list(tool_list ORDER BY first_offered) AS offer
  FROM lists
  GROUP BY run
),

offers AS (
  SELECT DISTINCT offer
  FROM run_offers
),

offered_lists AS (
  SELECT
    offer,
    unnest(offer) AS tool_list,
    generate_subscripts(offer, 1) AS list_position
  FROM offers
),

tools AS (
  SELECT
    offered_lists.offer,
    offered_lists.list_position,
    unnest(tool_lists.names) AS name,
    unnest(tool_lists.tools) AS tool,
    generate_subscripts(tool_lists.names, 1) AS position
  FROM offered_lists
  INNER JOIN tool_lists ON offered_lists.tool_list = tool_lists.rowid
),

first_tools AS (
  SELECT
    offer,
    name,
    min((list_position, position)) AS first_position,
    arg_min(tool, (list_position, position)) AS tool
  FROM tools
  GROUP BY offer, name
),

merged AS (
  SELECT
    offer,
    list(name ORDER BY first_position) AS names,
    list(name) FILTER (WHERE takes_nothing(json_extract(tool, '$.parameters'))) AS bare_names,
    '[' || string_agg(tool::VARCHAR, ',' ORDER BY first_position) || ']' AS offered_tools
  FROM first_tools
  GROUP BY offer
)

SELECT
  run_offers.run,
  merged.names,
  merged.bare_names,
  merged.offered_tools
FROM run_offers
INNER JOIN merged USING (offer);
