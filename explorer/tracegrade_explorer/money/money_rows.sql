-- Cost, tokens and durations of the runs of a window: of all runs, and by the group of a page.
--
-- Reads:
--   run_index
-- Parameters:
--   $grouped_by  VARCHAR    agent | release | task | day.
--   $midnight    TIMESTAMP  When a day begins, UTC; days are counted from it.
--   $since       TIMESTAMP  When the window begins; NULL: it has the runs of any time.
--   $until       TIMESTAMP  When it ends, itself excluded; NULL as $since.
-- Columns:
--   is_total       BOOLEAN  The row of all runs; others have one row for each name.
--   name           VARCHAR  NULL if not known; of days, days after $midnight.
--   runs           BIGINT   Those of sub-agents belong to the run that started them.
--   estimated_runs DOUBLE   Sum of their sample weights.
--   priced         BIGINT   Runs whose cost is known.
--   unpriced       BIGINT   Runs with a model call whose cost is not known.
--   cost_usd       DOUBLE   Of the priced, by sample weight; NULL without any.
--   usd_per_run    DOUBLE   The mean of the priced; NULL without any.
--   solved         BIGINT   Runs that count in rates and succeeded.
--   usd_per_solved DOUBLE   Cost of the runs that count and whose success is known, failed ones
--                           too, by the solved; NULL without any, or if one's cost is not known.
--   input_tokens   DOUBLE   By sample weight; NULL if none were recorded.
--   output_tokens  DOUBLE   As input_tokens.
--   median_ms      DOUBLE   Duration that half of the runs do not exceed; NULL if none is known.
--   p95_ms         DOUBLE   The same of 95 of 100.
-- Order:
--   is_total DESC, cost_usd DESC, runs DESC, name
WITH of_window AS (
  SELECT
    CASE
      WHEN $grouped_by = 'agent' THEN agent_name::VARCHAR
      WHEN $grouped_by = 'release' THEN release::VARCHAR
      WHEN $grouped_by = 'task' THEN task_id::VARCHAR
      ELSE floor(
        date_diff('second', $midnight::TIMESTAMP, start_time) / 86400
      )::BIGINT::VARCHAR
    END AS name,
    coalesce(sample_weight, 1) AS weight,
    duration_ms,
    NOT killed AND NOT superseded AND outcome IS NOT NULL
      AS is_known,
    coalesce(outcome = 'succeeded', FALSE) AS succeeded,
    input_tokens,
    output_tokens,
    cost_usd,
    unpriced
  FROM run_index
  WHERE
    parent_trajectory_id IS NULL
    AND (
      $since::TIMESTAMP IS NULL
      OR (
        start_time >= $since::TIMESTAMP
        AND start_time < $until::TIMESTAMP
      )
    )
)

SELECT
  grouping(name) = 1 AS is_total,
  name,
  count(*) AS runs,
  sum(weight) AS estimated_runs,
  count(cost_usd) AS priced,
  count(*) FILTER (WHERE unpriced) AS unpriced,
  sum(cost_usd * weight) AS cost_usd,
  sum(cost_usd * weight) / sum(weight) FILTER (WHERE cost_usd IS NOT NULL) AS usd_per_run,
  count(*) FILTER (WHERE is_known AND succeeded) AS solved,
  CASE
    WHEN count(*) FILTER (WHERE is_known AND cost_usd IS NULL) = 0
      THEN sum(cost_usd * weight) FILTER (WHERE is_known)
  END / sum(weight) FILTER (WHERE is_known AND succeeded) AS usd_per_solved,
  sum(input_tokens * weight)::DOUBLE AS input_tokens,
  sum(output_tokens * weight)::DOUBLE AS output_tokens,
  quantile_cont(duration_ms, 0.5) AS median_ms,
  quantile_cont(duration_ms, 0.95) AS p95_ms
FROM of_window
GROUP BY GROUPING SETS ((), (name))
ORDER BY is_total DESC, cost_usd DESC NULLS LAST, runs DESC, name ASC NULLS LAST;
