-- Number of runs of each date whose cost is known, and the reasons why other costs are not.
--
-- Reads:
--   run_costs
--   trajectories
--   usage_costs
-- Columns:
--   date          DATE     Date of the runs.
--   status        VARCHAR  priced | stated (priced, with at least one call whose cost only the
--                          trace states) | no_price | no_tokens | not_counted (built by an earlier
--                          version); NULL for runs without model calls.
--   model         VARCHAR  For no_price and no_tokens, NULL if not recorded; else NULL.
--   trajectories  BIGINT   A run counts for each of its reasons; 0 where status is NULL.
-- Order:
--   none
WITH counted AS (
  SELECT
    trajectory_id,
    'priced' AS status,
    NULL AS model
  FROM run_costs
  WHERE cost_usd IS NOT NULL
  UNION ALL
  SELECT
    run_costs.trajectory_id,
    'stated' AS status,
    NULL AS model
  FROM run_costs
  INNER JOIN usage_costs ON run_costs.trajectory_id = usage_costs.trajectory_id
  WHERE run_costs.cost_usd IS NOT NULL AND usage_costs.source = 'trace'
  UNION ALL
  SELECT
    trajectory_id,
    reason AS status,
    model
  FROM usage_costs
  WHERE reason IS NOT NULL
  UNION ALL
  SELECT
    trajectory_id,
    'not_counted' AS status,
    NULL AS model
  FROM trajectories
  WHERE model_usage IS NULL AND llm_call_count > 0
)

SELECT
  trajectories.date,
  counted.status,
  counted.model,
  count(DISTINCT counted.trajectory_id) AS trajectories
FROM trajectories
LEFT JOIN counted ON trajectories.trajectory_id = counted.trajectory_id
GROUP BY ALL;
