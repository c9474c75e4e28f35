-- Sums of metrics by agent, run mode, release, task and day, from which all tests are computed.
--
-- An observation is the value of one run. Runs of a conversation are one observation, the mean of
-- their values, on the first of their days and of the first of their tasks by name: they are not
-- independent. Values are added as whole multiples of 2^-60, so no order of rows changes a bit of
-- a sum.
--
-- Reads:
--   run_usage
--   scores
--   watched_attempts
-- Parameters:
--   $metrics  VARCHAR[]  Names of the metrics.
-- Columns:
--   agent_name       VARCHAR    NULL if none is named.
--   run_mode         VARCHAR    NULL if not declared.
--   release          VARCHAR    NULL if not sent.
--   dimension_value  VARCHAR    NULL without a dimension.
--   metric           VARCHAR    One row for each of these five, task_id and date.
--   task_id          VARCHAR    NULL if unknown.
--   date             DATE       UTC.
--   runs             BIGINT     Runs, with a value or without.
--   scored           BIGINT     Observations with a value.
--   weight           DOUBLE     Sum of their weights.
--   weight_square    DOUBLE     Sum of the squares of the weights.
--   value_sum        DOUBLE     Sum of the values, by weight.
--   square_sum       DOUBLE     Sum of the squares of the values, by weight.
--   scored_with      VARCHAR[]  Versions of scorer and task, at most two, sorted.
-- Order:
--   agent_name, run_mode, release, dimension_value, metric, task_id, date
WITH numbers AS (
  SELECT
    trajectory_id,
    metric,
    value
  FROM scores
  WHERE list_contains($metrics::VARCHAR[], metric)
  UNION ALL
  SELECT
    trajectory_id,
    metric,
    amount AS value
  FROM run_usage
  WHERE list_contains($metrics::VARCHAR[], metric)
),

runs AS (
  SELECT
    watched_attempts.*,
    numbers.metric,
    numbers.value
  FROM watched_attempts
  INNER JOIN numbers USING (trajectory_id)
),

observations AS (
  SELECT
    agent_name,
    run_mode,
    release,
    dimension_value,
    metric,
    task_id,
    date,
    1::BIGINT AS runs,
    value,
    sample_weight AS weight,
    scored_with
  FROM runs
  WHERE conversation_id IS NULL
  UNION ALL
  SELECT
    agent_name,
    run_mode,
    release,
    dimension_value,
    metric,
    min(task_id) AS task_id,
    min(date) AS date,
    count(*) AS runs,
    sum(round(value * 1152921504606846976)::HUGEINT)::DOUBLE
    / (count(value) * 1152921504606846976.0) AS value,
    max(sample_weight) AS weight,
    arg_min(scored_with, concat_ws('/', task_id, scored_with)) AS scored_with
  FROM runs
  WHERE conversation_id IS NOT NULL
  GROUP BY agent_name, run_mode, release, dimension_value, metric, conversation_id
),

sums AS (
  SELECT
    agent_name,
    run_mode,
    release,
    dimension_value,
    metric,
    task_id,
    date,
    sum(runs)::BIGINT AS runs,
    count(value) AS scored,
    list_sort(list_distinct([min(scored_with), max(scored_with)])) AS scored_with,
    [
      sum(round(if(value IS NULL, 0, weight) * 1152921504606846976)::HUGEINT),
      sum(round(if(value IS NULL, 0, weight * weight) * 1152921504606846976)::HUGEINT),
      sum(round(coalesce(weight * value, 0) * 1152921504606846976)::HUGEINT),
      sum(round(coalesce(weight * value * value, 0) * 1152921504606846976)::HUGEINT)
    ] AS exact
  FROM observations
  GROUP BY agent_name, run_mode, release, dimension_value, metric, task_id, date
)

SELECT
  agent_name,
  run_mode,
  release,
  dimension_value,
  metric,
  task_id,
  date,
  runs,
  scored,
  exact[1]::DOUBLE / 1152921504606846976 AS weight,
  exact[2]::DOUBLE / 1152921504606846976 AS weight_square,
  exact[3]::DOUBLE / 1152921504606846976 AS value_sum,
  exact[4]::DOUBLE / 1152921504606846976 AS square_sum,
  scored_with
FROM sums
ORDER BY agent_name, run_mode, release, dimension_value, metric, task_id, date;
