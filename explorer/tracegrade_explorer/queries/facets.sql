-- The names that a filter's runs have, those with most runs first.
--
-- A run may have several failure modes, dialects, models and tools, or none. Only failed runs have
-- a reason.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $names  BIGINT  Maximum for each facet.
-- Columns:
--   facet  VARCHAR  agent | release | task | category | run_mode | outcome | failure | reason |
--                   dialect | model | tool.
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
      WHEN grouping(outcome) = 0 THEN 'outcome'
      ELSE 'reason'
    END AS facet,
    coalesce(
      agent_name::VARCHAR,
      release::VARCHAR,
      task_id::VARCHAR,
      task_category::VARCHAR,
      run_mode::VARCHAR,
      outcome::VARCHAR,
      reason
    ) AS name,
    count(*) AS runs
  FROM matching_runs
  GROUP BY
    GROUPING SETS (
      (agent_name), (release), (task_id), (task_category), (run_mode), (outcome), (reason)
    )
  HAVING grouping(reason) = 1 OR reason IS NOT NULL
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
) AS counted
QUALIFY row_number() OVER (PARTITION BY facet ORDER BY runs DESC, name ASC) <= $names
ORDER BY facet ASC, runs DESC, name ASC;
