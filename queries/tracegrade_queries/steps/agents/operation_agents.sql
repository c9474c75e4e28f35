-- The agent that each operation belongs to, in runs in which more than one agent is named.
--
-- That is the nearest agent above, unless the operation names another: then the last agent of that
-- name to start before it, else the first. An agent that is named and has no span is known by the
-- first operation that names it.
--
-- Reads:
--   nested_agent_ends
--   operation_runs
--   operations
--   runs_of_several_agents
--   spanned_agents
--   stated_agents
-- Needs:
--   runs_of_several_agents
-- Columns:
--   key         BIGINT   Operation; one row each.
--   run         BIGINT
--   agent       BIGINT   As in spanned_agents; without a span, -1 - the key of an operation.
--   agent_name  VARCHAR  NULL if not known.
-- Order:
--   none
WITH members AS (
  SELECT
    operations.key,
    operations.span_id,
    operations.start_ns,
    operation_runs.run,
    coalesce(nested_agent_ends.last, operations.key) AS last
  FROM operations
  INNER JOIN operation_runs USING (key)
  INNER JOIN runs_of_several_agents USING (run)
  LEFT JOIN nested_agent_ends USING (key)
),

below AS (
  SELECT
    members.key,
    members.span_id,
    members.start_ns,
    members.run,
    coalesce(nested.agent, roots.agent) AS agent,
    coalesce(nested.agent_name, roots.agent_name) AS agent_name,
    -- What names no agent, or that of its run, is not in stated_agents.
    stated_agents.agent_name AS stated_name
  FROM members
  LEFT JOIN spanned_agents AS nested
    ON members.last = nested.agent AND members.run = nested.run
  LEFT JOIN spanned_agents AS roots ON members.run = roots.agent
  LEFT JOIN stated_agents ON members.key = stated_agents.key
),

elsewhere AS (
  SELECT *
  FROM below
  WHERE stated_name IS NOT NULL AND stated_name IS DISTINCT FROM agent_name
),

begun AS (
  SELECT
    elsewhere.key,
    spanned_agents.agent
  FROM elsewhere
  ASOF JOIN spanned_agents
    ON
      elsewhere.run = spanned_agents.run
      AND elsewhere.stated_name = spanned_agents.agent_name
      AND elsewhere.start_ns >= spanned_agents.start_ns
),

firsts AS (
  SELECT
    run,
    agent_name,
    arg_min(agent, (start_ns, agent)) AS agent
  FROM spanned_agents
  GROUP BY run, agent_name
),

placed AS (
  SELECT
    elsewhere.key,
    coalesce(
      begun.agent,
      firsts.agent,
      -1 - first_value(elsewhere.key) OVER (
        PARTITION BY elsewhere.run, elsewhere.stated_name
        ORDER BY elsewhere.start_ns, elsewhere.span_id
      )
    ) AS agent
  FROM elsewhere
  LEFT JOIN begun USING (key)
  LEFT JOIN firsts
    ON elsewhere.run = firsts.run AND elsewhere.stated_name = firsts.agent_name
)

SELECT
  below.key,
  below.run,
  coalesce(placed.agent, below.agent) AS agent,
  if(placed.agent IS NULL, below.agent_name, below.stated_name) AS agent_name
FROM below
LEFT JOIN placed USING (key);
