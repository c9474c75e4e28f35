-- The spread of each metric's values over runs.
--
-- Reads:
--   scores
-- Columns:
--   release     VARCHAR   One row for each release, agent_name, run_mode and metric.
--   agent_name  VARCHAR   NULL if the trace names none.
--   run_mode    VARCHAR   As the trace says: production | live | mocked; else NULL.
--   metric      VARCHAR   Its name in trajectory_scores.
--   quantiles   DOUBLE[]  At 0, .1, .25, .5, .75, .9 and 1 of the scored runs, interpolated.
-- Order:
--   agent_name, run_mode, release, metric
SELECT
  release,
  agent_name,
  run_mode,
  metric,
  quantile_cont(value, [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]) AS quantiles
FROM scores
WHERE status = 'scored'
GROUP BY release, agent_name, run_mode, metric
ORDER BY agent_name, run_mode, release, metric;
