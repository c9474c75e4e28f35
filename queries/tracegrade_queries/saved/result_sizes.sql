-- Tools that fill the model's context: lengths of their results, the largest sum first.
--
-- Reads:
--   steps
-- Columns:
--   tool_name       VARCHAR  One row each.
--   results         BIGINT   Captured results; at least 1.
--   median_chars    DOUBLE
--   p95_chars       DOUBLE   95th percentile, interpolated.
--   longest_chars   BIGINT
--   total_chars     BIGINT   Every later model call of the trajectory sends each result again.
--   longest_in      VARCHAR  Trajectory of the longest result; the first by id if several are
--                            equal.
-- Order:
--   total_chars DESC, tool_name
SELECT
  tool_name,
  count(*) AS results,
  median(length(result)) AS median_chars,
  quantile_cont(length(result), 0.95) AS p95_chars,
  max(length(result)) AS longest_chars,
  sum(length(result))::BIGINT AS total_chars,
  arg_min(trajectory_id, (-length(result), trajectory_id)) AS longest_in
FROM steps
WHERE kind = 'tool_call' AND result IS NOT NULL
GROUP BY tool_name
ORDER BY total_chars DESC, tool_name ASC;
