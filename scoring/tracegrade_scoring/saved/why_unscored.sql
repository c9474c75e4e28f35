-- Metrics that could not be scored, with the number of trajectories and the reason.
--
-- Reads:
--   scores
-- Columns:
--   metric        VARCHAR  One row for each metric, status and reason.
--   status        VARCHAR  not_applicable (nothing to measure) | error (could not be measured).
--   reason        VARCHAR
--   trajectories  BIGINT   At least 1.
--   share         DOUBLE   trajectories / all trajectories, in (0, 1].
-- Order:
--   metric, trajectories DESC, status, reason
WITH counted AS (
  SELECT
    metric,
    status,
    reason,
    count(*) AS trajectories,
    count(*) / sum(count(*)) OVER (PARTITION BY metric) AS share
  FROM scores
  GROUP BY metric, status, reason
)

SELECT
  metric,
  status,
  reason,
  trajectories,
  share
FROM counted
WHERE status <> 'scored'
ORDER BY metric ASC, trajectories DESC, status ASC, reason ASC;
