-- Distinct texts of offered tools, in one form.
--
-- Reads:
--   operations
-- Needs:
--   operations WHERE offered_tools IS NOT NULL
-- Columns:
--   offered_tools  VARCHAR    As sent; one row each. Texts that are not a JSON list are left out.
--   names          VARCHAR[]  Names of the tools, in order.
--   bare_names     VARCHAR[]  Names of tools without arguments; NULL if no such tool is known.
--   tools          JSON[]     {name, description, parameters} of each tool; NULL for missing
--                             values.
-- Order:
--   none
WITH texts AS (
  SELECT DISTINCT offered_tools
  FROM operations
  WHERE offered_tools IS NOT NULL
),

lists AS (
  SELECT
    offered_tools,
    json_transform(try_cast(offered_tools AS JSON), '["JSON"]') AS items
  FROM texts
),

tools AS (
  SELECT
    lists.offered_tools,
    unnest(lists.items) AS item,
    generate_subscripts(lists.items, 1) AS position
  FROM lists
),

named AS (
  SELECT
    offered_tools,
    position,
    coalesce(
      item ->> '$.name',
      item ->> '$.function.name',
      item ->> '$.tool.name',
      item ->> '$.toolSpec.name',
      CASE WHEN json_type(item) = 'VARCHAR' THEN item ->> '$' END
    ) AS name,
    coalesce(item ->> '$.description', item ->> '$.function.description') AS description,
    coalesce(
      item -> '$.parameters',
      item -> '$.function.parameters',
      item -> '$.inputSchema.json',
      item -> '$.inputSchema',
      item -> '$.input_schema',
      item -> '$.parameters_json_schema'
    ) AS parameters
  FROM tools
)

SELECT
  offered_tools,
  list(name ORDER BY position) AS names,
  list(name) FILTER (WHERE takes_nothing(parameters)) AS bare_names,
  list(
    json_object('name', name, 'description', description, 'parameters', parameters)
    ORDER BY position
  ) AS tools
FROM named
WHERE name IS NOT NULL
GROUP BY offered_tools;
