-- The way up from each known operation to the agent that starts its run.
--
-- Reads:
--   handoff_edges
--   known_parents
--   lost_handoff_edges
--   lost_run_edges
--   run_starts
--   twin_edges
-- Ends:
--   run_parent_ends
-- Columns:
--   key   BIGINT
--   next  BIGINT
-- Order:
--   none
SELECT
  known_parents.key,
  known_parents.parent AS next
FROM known_parents
ANTI JOIN run_starts USING (key)
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
FROM lost_run_edges
UNION ALL
SELECT
  handoff_edges.key,
  handoff_edges.next
FROM handoff_edges
ANTI JOIN twin_edges ON handoff_edges.key = twin_edges.key
ANTI JOIN lost_run_edges ON handoff_edges.key = lost_run_edges.key
UNION ALL
SELECT
  lost_handoff_edges.key,
  lost_handoff_edges.next
FROM lost_handoff_edges
ANTI JOIN twin_edges ON lost_handoff_edges.key = twin_edges.key
ANTI JOIN lost_run_edges ON lost_handoff_edges.key = lost_run_edges.key
ANTI JOIN handoff_edges ON lost_handoff_edges.key = handoff_edges.key;
