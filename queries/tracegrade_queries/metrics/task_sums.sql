-- Scores added up by release, agent, category, metric and task: what release scores are made of.
--
-- Sums run in a fixed order, so that they never differ in a bit. Weighted by sample_weight.
-- Source: metrics.md, rules 0.1, 0.2 and 0.6.
--
-- Reads:
--   scores
-- Columns:
--   release         VARCHAR  NULL if not sent.
--   agent_name      VARCHAR  NULL if none is named.
--   task_category   VARCHAR  '' for all categories together.
--   metric          VARCHAR  Name of the metric.
--   task_id         VARCHAR  One row for each of the five; NULL for runs without a known task.
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
--   agent_name, release, task_category, metric, task_id
WITH by_category AS (
  SELECT
    release,
    agent_name,
    coalesce(task_category, '') AS category,
    metric,
    task_id,
    count_if(status = 'scored') AS scored,
    count_if(status = 'not_applicable') AS not_applicable,
    count_if(status = 'error') AS error,
    sum(sample_weight * numerator ORDER BY trajectory_id) AS numerator,
    sum(sample_weight * denominator ORDER BY trajectory_id) AS denominator,
    sum(sample_weight * value ORDER BY trajectory_id) AS value_sum,
    sum(sample_weight ORDER BY trajectory_id) FILTER (WHERE status = 'scored') AS weight,
    sum(denominator ORDER BY trajectory_id) AS observations,
    coalesce(bool_and(denominator = 1 AND numerator IN (0, 1) AND sample_weight = 1), TRUE)
      AS is_binary
  FROM scores
  GROUP BY ALL
),

-- A task whose runs differ in category is one task in the row for all of them.
with_all AS (
  SELECT
    *,
    unnest(list_distinct(['', category])) AS task_category
  FROM by_category
)

SELECT
  release,
  agent_name,
  task_category,
  metric,
  task_id,
  sum(scored)::BIGINT AS scored,
  sum(not_applicable)::BIGINT AS not_applicable,
  sum(error)::BIGINT AS error,
  sum(numerator ORDER BY category) AS numerator,
  sum(denominator ORDER BY category) AS denominator,
  sum(value_sum ORDER BY category) AS value_sum,
  sum(weight ORDER BY category) AS weight,
  sum(observations ORDER BY category) AS observations,
  bool_and(is_binary) AND sum(scored) = 1 AS single
FROM with_all
GROUP BY release, agent_name, task_category, metric, task_id
ORDER BY agent_name, release, task_category, metric, task_id;
