-- The cost of each run, if the cost of each of its model calls is known.
--
-- Reads:
--   usage_costs
-- Needs:
--   usage_costs
-- Columns:
--   trajectory_id  VARCHAR  One row each.
--   cost_usd       DOUBLE   NULL if the cost of one call is not known.
-- Order:
--   none
SELECT
  trajectory_id,
  -- Whole numbers: the sum does not depend on the order.
  CASE WHEN bool_and(pico_usd IS NOT NULL) THEN sum(pico_usd) / 1e12 END AS cost_usd
FROM usage_costs
GROUP BY trajectory_id;
