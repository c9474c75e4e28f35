-- Which tools fill the model's context: how long their results are, the largest sum first.
--
-- Reads:
--   steps
-- Columns:
--   tool_name       VARCHAR  One row each.
--   results         BIGINT   Captured; at least 1.
--   median_chars    DOUBLE
--   p95_chars       DOUBLE   95th percentile, interpolated.
--   longest_chars   BIGINT
--   total_chars     BIGINT   Each is sent again with every later model call of its trajectory.
--   longest_in      VARCHAR  The trajectory of the longest, the first by id of equals.
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
