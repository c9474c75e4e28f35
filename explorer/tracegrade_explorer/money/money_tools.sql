-- Time in the calls of each tool in a window of time, the longest sum first.
--
-- Reads:
--   run_index
--   tool_times
-- Parameters:
--   $rows   INTEGER    Rows at most.
--   $since  TIMESTAMP  When the window begins; NULL: it has the runs of any time.
--   $until  TIMESTAMP  When it ends, itself excluded; NULL as $since.
-- Columns:
--   tool_name  VARCHAR  NULL if not recorded. One row each.
--   calls      BIGINT   Of runs and their sub-agents.
--   failed     BIGINT   Of these, with an error or not executed.
--   sum_ms     DOUBLE   Time of all calls, by sample weight; NULL if no call has an end.
--   median_ms  DOUBLE   Duration that half of the calls do not exceed; NULL as sum_ms.
--   p95_ms     DOUBLE   The same of 95 of 100.
--   tools      BIGINT   Tools that were called in the window, those beyond $rows too.
-- Order:
--   sum_ms DESC, calls DESC, tool_name
SELECT
  tool_times.tool_name,
  count(*) AS calls,
  count(*) FILTER (WHERE tool_times.failed) AS failed,
  sum(tool_times.duration_ms::DOUBLE * coalesce(run_index.sample_weight, 1)) AS sum_ms,
  quantile_cont(tool_times.duration_ms::DOUBLE, 0.5) AS median_ms,
  quantile_cont(tool_times.duration_ms::DOUBLE, 0.95) AS p95_ms,
  count(*) OVER () AS tools
FROM tool_times
INNER JOIN run_index ON tool_times.seq = run_index.seq
WHERE
  $since::TIMESTAMP IS NULL  -- noqa: RF02
  OR (
    run_index.start_time >= $since::TIMESTAMP  -- noqa: RF02
    AND run_index.start_time < $until::TIMESTAMP  -- noqa: RF02
  )
GROUP BY tool_times.tool_name
ORDER BY sum_ms DESC NULLS LAST, calls DESC, tool_times.tool_name ASC NULLS LAST
LIMIT $rows;
