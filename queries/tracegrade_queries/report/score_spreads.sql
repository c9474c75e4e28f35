-- How the values of each metric spread over runs.
--
-- Reads:
--   scores
-- Columns:
--   release     VARCHAR   One row for each release, agent_name and metric.
--   agent_name  VARCHAR   NULL if the trace names none.
--   metric      VARCHAR   Its name in trajectory_scores.
--   quantiles   DOUBLE[]  At 0, .1, .25, .5, .75, .9 and 1 of the scored runs, interpolated.
-- Order:
--   agent_name, release, metric
SELECT
  release,
  agent_name,
  metric,
  quantile_cont(value, [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]) AS quantiles
FROM scores
WHERE status = 'scored'
GROUP BY release, agent_name, metric
ORDER BY agent_name, release, metric;
