-- Each metric of each release of each agent, over all task categories.
--
-- The fewest observed steps of a task are known only when scores are read. So metrics that depend
-- on them are added up here, without an interval. Source: docs/metrics.md, section 3.1.
--
-- Reads:
--   observed_step_scores
--   release_scores
-- Columns:
--   release          VARCHAR    One row for each release, agent_name, run_mode and metric.
--   agent_name       VARCHAR    NULL if the trace names none.
--   run_mode         VARCHAR    As the trace says: production | live | mocked; else NULL.
--   metric           VARCHAR    Its name in trajectory_scores.
--   value            DOUBLE     NULL if no trajectory could be scored.
--   numerator        DOUBLE     NULL if the metric is not a ratio.
--   denominator      DOUBLE     NULL if the metric is not a ratio.
--   low              DOUBLE     Lower end of the 95 % interval; NULL without one.
--   high             DOUBLE     Upper end of the 95 % interval; NULL without one.
--   interval_method  VARCHAR    wilson, bootstrap, ...; NULL without one.
--   scored           BIGINT     Trajectories scored.
--   not_applicable   BIGINT     Trajectories with nothing to measure.
--   error            BIGINT     Trajectories that could not be measured.
--   trajectories     BIGINT     Sum of the three.
--   flags            VARCHAR[]  insufficient_sample, ...; empty if none applies.
-- Order:
--   agent_name, run_mode, release, metric
WITH step_scores AS (
  FROM observed_step_scores
  UNPIVOT (score FOR metric IN (step_efficiency, step_ratio))
),

at_read AS (
  SELECT
    release,
    agent_name,
    run_mode,
    metric,
    sum(sample_weight * score.numerator ORDER BY trajectory_id) AS numerator,
    sum(sample_weight * score.denominator ORDER BY trajectory_id) AS denominator,
    count(*) FILTER (WHERE score.status = 'scored') AS scored,
    count(*) FILTER (WHERE score.status = 'not_applicable') AS not_applicable,
    count(*) FILTER (WHERE score.status = 'error') AS error
  FROM step_scores
  GROUP BY release, agent_name, run_mode, metric
),

-- Stored rows suffice unless the optimum of some task was observed.
observed AS (
  SELECT at_read.*
  FROM at_read
  INNER JOIN release_scores
    ON
      at_read.metric = release_scores.metric
      AND at_read.release IS NOT DISTINCT FROM release_scores.release
      AND at_read.agent_name IS NOT DISTINCT FROM release_scores.agent_name
      AND at_read.run_mode IS NOT DISTINCT FROM release_scores.run_mode
  WHERE
    coalesce(release_scores.task_category, '') = ''
    AND at_read.scored > release_scores.scored
    AND at_read.denominator > 0
),

stored AS (
  SELECT
    *,
    coalesce(flags, []) AS known_flags
  FROM release_scores
  WHERE coalesce(task_category, '') = ''
)

SELECT
  stored.release,
  stored.agent_name,
  stored.run_mode,
  stored.metric,
  coalesce(observed.numerator / observed.denominator, stored.value) AS value,
  coalesce(observed.numerator, stored.numerator) AS numerator,
  coalesce(observed.denominator, stored.denominator) AS denominator,
  CASE WHEN observed.metric IS NULL THEN stored.low END AS low,
  CASE WHEN observed.metric IS NULL THEN stored.high END AS high,
  CASE WHEN observed.metric IS NULL THEN stored.interval_method END AS interval_method,
  coalesce(observed.scored, stored.scored)::BIGINT AS scored,
  coalesce(observed.not_applicable, stored.not_applicable)::BIGINT AS not_applicable,
  coalesce(observed.error, stored.error)::BIGINT AS error,
  stored.trajectories::BIGINT AS trajectories,
  stored.known_flags AS flags
FROM stored
LEFT JOIN observed
  ON
    stored.metric = observed.metric
    AND stored.release IS NOT DISTINCT FROM observed.release
    AND stored.agent_name IS NOT DISTINCT FROM observed.agent_name
    AND stored.run_mode IS NOT DISTINCT FROM observed.run_mode
ORDER BY stored.agent_name, stored.run_mode, stored.release, stored.metric;
