-- Way up from each operation to the nearest agent inside its run.
--
-- Reads:
--   known_parents
--   nested_agents
--   operations
-- Ends:
--   nested_agent_ends
-- Needs:
--   nested_agents
-- Columns:
--   key   BIGINT
--   next  BIGINT
-- Order:
--   none
SELECT
  known_parents.key,
  known_parents.parent AS next
FROM known_parents
INNER JOIN operations USING (key)
ANTI JOIN nested_agents USING (key)
WHERE
  known_parents.parent IS NOT NULL
  AND operations.trace_id IN (SELECT agents_there.trace_id FROM nested_agents AS agents_there);
