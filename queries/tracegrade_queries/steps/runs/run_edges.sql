-- Way up from each known operation to the agent that starts its run.
--
-- Reads:
--   known_parents
--   lost_run_edges
--   run_agents
--   twin_edges
-- Columns:
--   key   BIGINT
--   next  BIGINT
-- Order:
--   none
SELECT
  known_parents.key,
  known_parents.parent AS next
FROM known_parents
ANTI JOIN run_agents USING (key)
WHERE known_parents.parent IS NOT NULL
UNION ALL
SELECT
  key,
  next
FROM twin_edges
UNION ALL
SELECT
  key,
  next
FROM lost_run_edges;
