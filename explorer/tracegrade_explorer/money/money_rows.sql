-- Cost, tokens and durations of the runs of a window: of all runs, and by the group of a page.
--
-- Reads:
--   run_index
--   run_spending
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
      WHEN $grouped_by = 'agent' THEN run_index.agent_name::VARCHAR  -- noqa: RF02
      WHEN $grouped_by = 'release' THEN run_index.release::VARCHAR  -- noqa: RF02
      WHEN $grouped_by = 'task' THEN run_index.task_id::VARCHAR  -- noqa: RF02
      ELSE floor(
        date_diff('second', $midnight::TIMESTAMP, run_index.start_time) / 86400  -- noqa: RF02
      )::BIGINT::VARCHAR
    END AS name,
    coalesce(run_index.sample_weight, 1) AS weight,
    run_index.duration_ms,
    NOT run_index.killed AND NOT run_index.superseded AND run_index.outcome IS NOT NULL
      AS is_known,
    coalesce(run_index.outcome = 'succeeded', FALSE) AS succeeded,
    run_spending.input_tokens,
    run_spending.output_tokens,
    run_spending.cost_usd,
    coalesce(run_spending.unpriced, FALSE) AS unpriced
  FROM run_index
  LEFT JOIN run_spending ON run_index.seq = run_spending.seq
  WHERE
    run_index.parent_trajectory_id IS NULL
    AND (
      $since::TIMESTAMP IS NULL  -- noqa: RF02
      OR (
        run_index.start_time >= $since::TIMESTAMP  -- noqa: RF02
        AND run_index.start_time < $until::TIMESTAMP  -- noqa: RF02
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
