-- Runs in which more than one agent is named.
--
-- Reads:
--   nested_agents
--   stated_agents
-- Needs:
--   nested_agents or stated_agents
-- Columns:
--   run  BIGINT  One row each.
-- Order:
--   none
SELECT run FROM nested_agents
UNION
SELECT run FROM stated_agents;
