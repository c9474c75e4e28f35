-- Spans of tool executions, with the values that make two of them comparable.
--
-- Calls of the user are not the agent's. An agent that was called without a tool span around it is
-- the execution itself, in the run of its caller.
--
-- Reads:
--   called_agents
--   operations
--   operation_runs
--   canonical
--   user_tools
-- Columns:
--   key              BIGINT   One row each.
--   run              BIGINT
--   scope_name       VARCHAR
--   tool_name        VARCHAR  '' if not sent.
--   plain_name       VARCHAR  Without the name of an MCP server before it.
--   call_id          VARCHAR
--   arguments        VARCHAR  Canonical JSON, else the text as sent.
--   match_arguments  VARCHAR  Canonical JSON object; NULL if the span has none to compare.
--   start_ns         BIGINT
--   end_ns           BIGINT
--   span_id          VARCHAR
-- Order:
--   none
SELECT
  operations.key,
  operation_runs.run,
  operations.scope_name,
  coalesce(operations.tool_name, '') AS tool_name,
  regexp_replace(coalesce(operations.tool_name, ''), '^mcp__.+?__', '') AS plain_name,
  operations.call_id,
  coalesce(canonical.canonical, operations.arguments) AS arguments,
  CASE WHEN canonical.canonical[1] = '{' THEN canonical.canonical END AS match_arguments,
  operations.start_ns,
  operations.end_ns,
  operations.span_id
FROM operations
INNER JOIN operation_runs USING (key)
ANTI JOIN user_tools USING (key)
LEFT JOIN canonical ON operations.arguments = canonical.text
WHERE operations.operation = 'tool'
UNION ALL BY NAME
SELECT
  operations.key,
  operation_runs.run,
  operations.scope_name,
  called_agents.tool_name,
  called_agents.tool_name AS plain_name,
  operations.start_ns,
  operations.end_ns,
  operations.span_id
FROM called_agents
INNER JOIN operations USING (key)
INNER JOIN operation_runs ON called_agents.caller = operation_runs.key
WHERE called_agents.is_own_execution;
