-- Which metrics of users' own runs were scored by.
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
