-- Why the cost of runs is not known, by model.
--
-- Reads:
--   trajectories
--   usage_costs
-- Columns:
--   model         VARCHAR  NULL if not recorded.
--   reason        VARCHAR  no_price | no_tokens | not_counted (built by an earlier version).
--   trajectories  BIGINT   A run counts for each of its reasons; at least 1.
-- Order:
--   trajectories DESC, model, reason
WITH reasons AS (
  SELECT
    trajectory_id,
    model,
    reason
  FROM usage_costs
  WHERE reason IS NOT NULL
  UNION ALL
  SELECT
    trajectory_id,
    NULL AS model,
    'not_counted' AS reason
  FROM trajectories
  WHERE model_usage IS NULL AND llm_call_count > 0
)

SELECT
  model,
  reason,
  count(DISTINCT trajectory_id) AS trajectories
FROM reasons
GROUP BY model, reason
ORDER BY trajectories DESC, model ASC, reason ASC;
