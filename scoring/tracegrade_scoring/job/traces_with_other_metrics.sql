-- Traces whose scores by users' own metrics are not those of the metrics in force.
--
-- Source: scoring/README.md, "Metrics of your own".
--
-- Reads:
--   custom_scores
--   metric_hashes
--   trajectory_scores
-- Columns:
--   trace_id  VARCHAR  One row each.
-- Order:
--   none
WITH held AS (
  SELECT
    custom_scores.trajectory_id,
    count(*) AS held,
    -- What is not trusted may be scored or not, and is left as it is.
    count_if(
      custom_scores.metric_hash = metric_hashes.metric_hash
      OR (NOT metric_hashes.runs AND custom_scores.metric_hash IS NULL)
    ) AS fitting
  FROM custom_scores
  LEFT JOIN metric_hashes USING (metric)
  GROUP BY custom_scores.trajectory_id
),

wanted AS (
  SELECT count(*) AS wanted
  FROM metric_hashes
)

SELECT DISTINCT split_part(trajectory_scores.trajectory_id, '-', 1) AS trace_id
FROM trajectory_scores
CROSS JOIN wanted
LEFT JOIN held USING (trajectory_id)
WHERE coalesce(held.held, 0) <> wanted.wanted OR coalesce(held.fitting, 0) <> wanted.wanted;
