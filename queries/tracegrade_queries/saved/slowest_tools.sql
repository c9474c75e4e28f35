-- Total time of each tool's executed calls, the longest first.
--
-- Calls whose source has no times (flag synthetic_time) are left out.
--
-- Reads:
--   steps
-- Columns:
--   tool_name         VARCHAR  One row each.
--   calls             BIGINT   Executed calls; at least 1.
--   median_ms         DOUBLE   Median duration.
--   p95_ms            DOUBLE   95th percentile, interpolated.
--   longest_ms        DOUBLE
--   total_ms          DOUBLE   Calls that ran at the same time each count in full.
-- Order:
--   total_ms DESC, tool_name
SELECT
  tool_name,
  count(*) AS calls,
  median(duration_ms) AS median_ms,
  quantile_cont(duration_ms, 0.95) AS p95_ms,
  max(duration_ms) AS longest_ms,
  sum(duration_ms ORDER BY duration_ms) AS total_ms
FROM steps
WHERE
  kind = 'tool_call'
  AND status IN ('ok', 'error')
  AND NOT coalesce(list_contains(flags, 'synthetic_time'), FALSE)
GROUP BY tool_name
ORDER BY total_ms DESC, tool_name ASC;
