-- The scores that are worked out as they are read: by the fewest steps that were observed.
--
-- Reads:
--   scores
-- Columns:
--   trajectory_id    VARCHAR  One row each.
--   step_efficiency  DOUBLE   NULL unless scored.
--   step_ratio       DOUBLE   NULL unless scored.
-- Order:
--   trajectory_id
SELECT
  trajectory_id,
  max(value) FILTER (WHERE metric = 'step_efficiency') AS step_efficiency,
  max(value) FILTER (WHERE metric = 'step_ratio') AS step_ratio
FROM scores
WHERE metric IN ('step_efficiency', 'step_ratio') AND source = 'observed'
GROUP BY trajectory_id
ORDER BY trajectory_id;
