-- Agent spans that start a run: the outermost, and each that was called as a tool.
--
-- Nested agent spans without a tool between them are one run: one wraps the other, or took over
-- from it.
--
-- Reads:
--   called_agents
--   operations
--   known_parents
--   anchor_ends
-- Columns:
--   key               BIGINT   One row each.
--   trace_id          VARCHAR
--   span_id           VARCHAR
--   scope_name        VARCHAR
--   agent_name        VARCHAR  NULL if the span names none.
--   start_ns          BIGINT
--   end_ns            BIGINT
--   caller            BIGINT   Key of the tool span that called it, else of the model span that
--                              requested it; NULL for an outermost agent.
--   is_own_execution  BOOLEAN  No tool span called it: it is the execution itself.
-- Order:
--   none
WITH anchors AS (
  SELECT
    known_parents.key,
    coalesce(anchor_ends.last, known_parents.parent) AS anchor
  FROM known_parents
  LEFT JOIN anchor_ends ON known_parents.parent = anchor_ends.key
  WHERE known_parents.operation = 'agent'
)

SELECT
  agents.key,
  agents.trace_id,
  agents.span_id,
  agents.scope_name,
  agents.agent_name,
  agents.start_ns,
  agents.end_ns,
  CASE WHEN above.operation = 'tool' THEN above.key ELSE called_agents.caller END AS caller,
  coalesce(called_agents.is_own_execution, FALSE) AS is_own_execution
FROM anchors
INNER JOIN operations AS agents ON anchors.key = agents.key
LEFT JOIN operations AS above ON anchors.anchor = above.key
LEFT JOIN called_agents ON anchors.key = called_agents.key
WHERE coalesce(above.operation, '') <> 'agent' OR called_agents.key IS NOT NULL;
