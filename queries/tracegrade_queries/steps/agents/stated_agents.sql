-- Operations that name another agent than that of their run, themselves or by what is above them.
--
-- Reads:
--   name_ends
--   operation_runs
--   operations
--   run_agent_names
-- Columns:
--   key         BIGINT   One row each.
--   run         BIGINT
--   agent_name  VARCHAR  Never NULL.
-- Order:
--   none
WITH naming AS (
  SELECT
    key,
    agent_name
  FROM operations
  WHERE agent_name IS NOT NULL
)

SELECT
  operations.key,
  operation_runs.run,
  coalesce(operations.agent_name, naming.agent_name) AS agent_name
FROM operations
INNER JOIN operation_runs USING (key)
LEFT JOIN run_agent_names USING (run)
LEFT JOIN name_ends ON operations.key = name_ends.key
LEFT JOIN naming ON name_ends.last = naming.key
WHERE
  coalesce(operations.agent_name, naming.agent_name) IS NOT NULL
  AND coalesce(operations.agent_name, naming.agent_name)
  IS DISTINCT FROM run_agent_names.agent_name;
