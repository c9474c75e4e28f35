-- Each metric of each release of each agent, over all task categories.
--
-- Reads:
--   release_scores
-- Columns:
--   release          VARCHAR    One row for each release, agent_name and metric.
--   agent_name       VARCHAR    NULL if the trace names none.
--   metric           VARCHAR    Its name in trajectory_scores.
--   value            DOUBLE     NULL if no trajectory could be scored.
--   numerator        DOUBLE     NULL if the metric is no ratio.
--   denominator      DOUBLE     NULL if the metric is no ratio.
--   low              DOUBLE     Lower end of the 95 % interval; NULL without one.
--   high             DOUBLE     Upper end of the 95 % interval; NULL without one.
--   interval_method  VARCHAR    wilson, bootstrap, ...; NULL without one.
--   scored           BIGINT     Trajectories scored.
--   not_applicable   BIGINT     Trajectories with nothing to measure.
--   error            BIGINT     Trajectories that could not be measured.
--   trajectories     BIGINT     All three together.
--   flags            VARCHAR[]  insufficient_sample, ...; empty if there is nothing to say.
-- Order:
--   agent_name, release, metric
SELECT
  release,
  agent_name,
  metric,
  value,
  numerator,
  denominator,
  low,
  high,
  interval_method,
  scored::BIGINT AS scored,
  not_applicable::BIGINT AS not_applicable,
  error::BIGINT AS error,
  trajectories::BIGINT AS trajectories,
  coalesce(flags, []) AS flags
FROM release_scores
WHERE coalesce(task_category, '') = ''
ORDER BY agent_name, release, metric;
