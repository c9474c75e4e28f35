-- The users' own metrics with scores.
--
-- Reads:
--   custom_scores
-- Columns:
--   metric  VARCHAR  One row each.
-- Order:
--   metric
SELECT DISTINCT metric
FROM custom_scores
WHERE metric IS NOT NULL
ORDER BY metric;
