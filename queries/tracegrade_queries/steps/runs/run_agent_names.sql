-- The name of each run's agent: the first that a span states, else the first that a name suggests.
--
-- The suggested name comes from the name of an agent span. If the root of a run did not arrive,
-- its other spans may name the agent, except an agent that it called. CrewAI writes the agent's
-- role into the model's instructions.
--
-- Reads:
--   dialect_messages
--   operations
--   run_ids
--   operation_runs
-- Columns:
--   run         BIGINT   One row each.
--   agent_name  VARCHAR  NULL if nothing names the agent.
-- Order:
--   none
WITH agents AS (
  SELECT
    run_ids.run,
    operations.agent_name,
    operations.agent_label,
    -- The outermost span counts first, even if its clock differs.
    (
      operations.key <> run_ids.run,
      operations.start_ns,
      -operations.end_ns,
      operations.span_id
    ) AS position
  FROM operations
  INNER JOIN operation_runs USING (key)
  INNER JOIN run_ids USING (run)
  WHERE
    operations.operation = 'agent'
    OR (run_ids.root IS NULL AND operations.agent_name IS NOT NULL)
),

crew_roles AS (
  SELECT
    run_ids.run,
    regexp_extract(
      arg_min(dialect_messages.text, (operations.start_ns, operations.span_id)),
      '(?s)^You are (.*?)\. .*\nYour personal goal is: ',
      1
    ) AS role
  FROM dialect_messages
  INNER JOIN operations USING (key)
  INNER JOIN operation_runs USING (key)
  INNER JOIN run_ids USING (run)
  WHERE
    run_ids.root IS NULL
    AND dialect_messages.direction = 'in'
    AND dialect_messages.role = 'system'
    AND contains(dialect_messages.text, E'\nYour personal goal is: ')
  GROUP BY run_ids.run
),

names AS (
  SELECT
    run,
    coalesce(arg_min(agent_name, position), arg_min(agent_label, position)) AS agent_name
  FROM agents
  GROUP BY run
)

SELECT
  run,
  coalesce(names.agent_name, nullif(crew_roles.role, '')) AS agent_name
FROM names
FULL JOIN crew_roles USING (run);
