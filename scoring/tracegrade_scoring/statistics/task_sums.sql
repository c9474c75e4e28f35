-- Scores added up by cohort, category, metric and task: what release scores are made of.
--
-- Sums are exact until they become doubles here, so that no order of rows changes a bit.
-- Source: docs/metrics.md, sections 0.1, 0.2 and 0.6.
--
-- Reads:
--   current_sums
-- Columns:
--   release         VARCHAR  NULL if not sent.
--   agent_name      VARCHAR  NULL if none is named.
--   run_mode        VARCHAR  production | live | mocked; NULL if not said.
--   task_category   VARCHAR  '' for all categories together.
--   metric          VARCHAR  Name of the metric.
--   task_id         VARCHAR  One row for each of the six; NULL for runs without a known task.
--   scored          BIGINT   Trajectories scored.
--   not_applicable  BIGINT   Trajectories with nothing to measure.
--   error           BIGINT   Trajectories that could not be measured.
--   numerator       DOUBLE   Weighted sum; NULL if none was scored.
--   denominator     DOUBLE   Weighted sum; NULL if none was scored.
--   value_sum       DOUBLE   Weighted sum of values; NULL if none was scored.
--   weight          DOUBLE   Sum of the weights of scored trajectories; NULL if none was.
--   observations    DOUBLE   Sum of denominators without weights; NULL if none was scored.
--   single          BOOLEAN  One trajectory at weight 1, and one observation that is 0 or 1.
-- Order:
--   agent_name, release, run_mode, task_category, metric, task_id
WITH with_all AS (
  -- A task whose runs differ in category is one task in the row for all of them.
  SELECT
    * EXCLUDE (task_category),
    unnest(list_distinct(['', task_category])) AS task_category
  FROM current_sums
),

added AS (
  SELECT
    release,
    agent_name,
    run_mode,
    task_category,
    metric,
    task_id,
    sum(scored)::BIGINT AS scored,
    sum(not_applicable)::BIGINT AS not_applicable,
    sum(error)::BIGINT AS error,
    sum(not_single) AS not_single,
    sum(numerator)::DOUBLE / 1152921504606846976 AS numerator,
    sum(denominator)::DOUBLE / 1152921504606846976 AS denominator,
    sum(value_sum)::DOUBLE / 1152921504606846976 AS value_sum,
    sum(weight)::DOUBLE / 1152921504606846976 AS weight,
    sum(observations)::DOUBLE / 1152921504606846976 AS observations
  FROM with_all
  GROUP BY release, agent_name, run_mode, task_category, metric, task_id
)

SELECT
  release,
  agent_name,
  run_mode,
  task_category,
  metric,
  task_id,
  scored,
  not_applicable,
  error,
  if(scored > 0, numerator, NULL) AS numerator,
  if(scored > 0, denominator, NULL) AS denominator,
  if(scored > 0, value_sum, NULL) AS value_sum,
  if(scored > 0, weight, NULL) AS weight,
  if(scored > 0, observations, NULL) AS observations,
  not_single = 0 AND scored = 1 AS single
FROM added
ORDER BY agent_name, release, run_mode, task_category, metric, task_id;
