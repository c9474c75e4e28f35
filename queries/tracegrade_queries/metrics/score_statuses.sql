-- How many trajectories each metric scored, and why it did not score the others.
--
-- Reads:
--   scores
-- Columns:
--   metric        VARCHAR  One row for each metric, status and reason.
--   status        VARCHAR  scored | not_applicable | error.
--   reason        VARCHAR  NULL if scored.
--   trajectories  BIGINT   At least 1.
-- Order:
--   metric, status, reason
SELECT
  metric,
  status,
  reason,
  count(*) AS trajectories
FROM scores
GROUP BY metric, status, reason
ORDER BY metric, status, reason;
