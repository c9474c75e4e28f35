-- The name of the agent that each run is of: the first that a span states, else the first that the
-- name of an agent span suggests.
--
-- Reads:
--   operations
--   runs_of_operations
-- Columns:
--   run         BIGINT   One row each.
--   agent_name  VARCHAR  NULL if nothing names the agent.
-- Order:
--   none
WITH agents AS (
  SELECT
    runs_of_operations.run,
    operations.agent_name,
    operations.agent_label,
    -- The outermost span counts first, whatever its clock says.
    (
      operations.key <> runs_of_operations.run,
      operations.start_ns,
      -operations.end_ns,
      operations.span_id
    ) AS place
  FROM operations
  INNER JOIN runs_of_operations USING (key)
  WHERE operations.operation = 'agent'
)

SELECT
  run,
  coalesce(arg_min(agent_name, place), arg_min(agent_label, place)) AS agent_name
FROM agents
GROUP BY run;
