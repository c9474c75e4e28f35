-- The names that a filter's runs have, those with most runs first.
--
-- A run may have several failure modes, dialects, models and tools, or none. Only failed runs have
-- a reason.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $names       BIGINT   Maximum for each facet.
--   $dimensions  VARCHAR  Dimensions of the mapping file that are facets, with commas between.
-- Columns:
--   facet  VARCHAR  agent | release | task | category | run_mode | outcome | failure | reason |
--                   dialect | model | tool | a dimension of the mapping file.
--   name   VARCHAR  NULL: not known. One row for each facet and name.
--   runs   BIGINT   With this name; all together are the filter's but for failure,
--                   reason, dialect, model and tool.
--   of     BIGINT   Number of names of the facet, including those left out.
-- Order:
--   facet, runs DESC, name
SELECT
  facet,
  name,
  runs,
  count(*) OVER (PARTITION BY facet) AS of
FROM (
  SELECT
    CASE
      WHEN grouping(agent_name) = 0 THEN 'agent'
      WHEN grouping(release) = 0 THEN 'release'
      WHEN grouping(task_id) = 0 THEN 'task'
      WHEN grouping(task_category) = 0 THEN 'category'
      WHEN grouping(run_mode) = 0 THEN 'run_mode'
      ELSE 'outcome'
    END AS facet,
    coalesce(
      agent_name::VARCHAR,
      release::VARCHAR,
      task_id::VARCHAR,
      task_category::VARCHAR,
      run_mode::VARCHAR,
      outcome::VARCHAR
    ) AS name,
    count(*) AS runs
  FROM matching_runs
  GROUP BY
    GROUPING SETS (
      (agent_name), (release), (task_id), (task_category), (run_mode), (outcome)
    )
  UNION ALL
  SELECT
    'failure' AS facet,
    mode AS name,
    count(*) AS runs
  FROM (
    SELECT unnest(failures) AS mode
    FROM matching_runs
    WHERE len(failures) > 0
  ) AS modes_of_runs
  WHERE mode <> 'unclassified'
  GROUP BY mode
  UNION ALL
  SELECT
    'reason' AS facet,
    reason AS name,
    count(*) AS runs
  FROM matching_runs
  WHERE reason IS NOT NULL
  GROUP BY reason
  UNION ALL
  SELECT
    'dialect' AS facet,
    dialect AS name,
    count(*) AS runs
  FROM (SELECT unnest(dialects) AS dialect FROM matching_runs) AS read_by
  GROUP BY dialect
  UNION ALL
  SELECT
    'model' AS facet,
    model::VARCHAR AS name,
    count(*) AS runs
  FROM (SELECT unnest(models) AS model FROM matching_runs) AS models_of_runs
  GROUP BY model
  UNION ALL
  SELECT
    'tool' AS facet,
    tool::VARCHAR AS name,
    count(*) AS runs
  FROM (SELECT unnest(tools) AS tool FROM matching_runs) AS tools_of_runs
  GROUP BY tool
  UNION ALL
  SELECT
    dimension AS facet,
    name,
    count(*) AS runs
  FROM (
    SELECT
      listed.dimension,
      matching_runs.dimensions[listed.dimension] AS name
    FROM matching_runs
    CROSS JOIN (SELECT unnest(string_split($dimensions, ',')) AS dimension) AS listed
    WHERE listed.dimension <> ''
  ) AS values_of_runs
  GROUP BY dimension, name
) AS counted
QUALIFY row_number() OVER (PARTITION BY facet ORDER BY runs DESC, name ASC) <= $names
ORDER BY facet ASC, runs DESC, name ASC;
