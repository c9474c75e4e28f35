-- Traces whose scores by users' own metrics are not those of the metrics in force.
--
-- Source: docs/guides/own-metrics.md, "In SQL".
--
-- Reads:
--   custom_scores
--   metric_hashes
--   trajectory_scores
-- Columns:
--   trace_id  VARCHAR  One row each.
-- Order:
--   none
WITH stored AS (
  SELECT
    custom_scores.trajectory_id,
    count(*) AS stored,
    -- What is not trusted may be scored or not, and is left as it is.
    count_if(
      custom_scores.metric_hash = metric_hashes.metric_hash
      OR (NOT metric_hashes.runs AND custom_scores.metric_hash IS NULL)
    ) AS fitting
  FROM custom_scores
  LEFT JOIN metric_hashes USING (metric)
  GROUP BY custom_scores.trajectory_id
),

needed AS (
  SELECT count(*) AS needed
  FROM metric_hashes
)

SELECT DISTINCT split_part(trajectory_scores.trajectory_id, '-', 1) AS trace_id
FROM trajectory_scores
CROSS JOIN needed
LEFT JOIN stored USING (trajectory_id)
WHERE coalesce(stored.stored, 0) <> needed.needed OR coalesce(stored.fitting, 0) <> needed.needed;
