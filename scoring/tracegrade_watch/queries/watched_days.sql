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

-- Squares of great values do not fit in units of 2^-60, so a metric with values above 2^20 is
-- added in units that are greater by a power of two.
units AS (
  SELECT
    metric,
    2.0 ** greatest(0, ceil(log2(greatest(max(abs(value)), 1))) - 20) AS unit
  FROM numbers
  GROUP BY metric
),

scaled AS (
  SELECT
    numbers.trajectory_id,
    numbers.metric,
    numbers.value / units.unit AS value
  FROM numbers
  INNER JOIN units ON numbers.metric = units.metric
),

-- One row for each conversation, and one for all other runs of a place.
parts AS (
  SELECT
    watched_attempts.place,
    watched_attempts.conversation_id,
    scaled.metric,
    count(*) AS runs,
    count(scaled.value) AS scored,
    max(watched_attempts.sample_weight) AS weight,
    sum(round(scaled.value * 1152921504606846976)::HUGEINT) AS values_exact,
    sum(
      round(
        if(scaled.value IS NULL, 0, watched_attempts.sample_weight) * 1152921504606846976
      )::HUGEINT
    ) AS weight_exact,
    sum(
      round(
        if(scaled.value IS NULL, 0, watched_attempts.sample_weight ** 2) * 1152921504606846976
      )::HUGEINT
    ) AS weight_square_exact,
    sum(
      round(watched_attempts.sample_weight * scaled.value * 1152921504606846976)::HUGEINT
    ) AS value_exact,
    sum(
      round(watched_attempts.sample_weight * scaled.value ** 2 * 1152921504606846976)::HUGEINT
    ) AS square_exact
  FROM scaled
  INNER JOIN watched_attempts USING (trajectory_id)
  GROUP BY watched_attempts.place, watched_attempts.conversation_id, scaled.metric
),

means AS (
  SELECT
    *,
    values_exact::DOUBLE / (scored * 1152921504606846976.0) AS mean
  FROM parts
),

observations AS (
  SELECT
    place,
    metric,
    runs,
    scored,
    weight_exact,
    weight_square_exact,
    value_exact,
    square_exact
  FROM parts
  WHERE conversation_id IS NULL
  UNION ALL
  SELECT
    place,
    metric,
    runs,
    if(scored > 0, 1, 0) AS scored,
    round(if(scored > 0, weight, 0) * 1152921504606846976)::HUGEINT AS weight_exact,
    round(if(scored > 0, weight ** 2, 0) * 1152921504606846976)::HUGEINT AS weight_square_exact,
    round(weight * mean * 1152921504606846976)::HUGEINT AS value_exact,
    round(weight * mean ** 2 * 1152921504606846976)::HUGEINT AS square_exact
  FROM means
  WHERE conversation_id IS NOT NULL
),

places AS (
  SELECT DISTINCT
    place,
    agent_name,
    run_mode,
    release,
    dimension_value,
    task_id,
    scored_with,
    date
  FROM watched_attempts
)

SELECT
  places.agent_name,
  places.run_mode,
  places.release,
  places.dimension_value,
  observations.metric,
  places.task_id,
  places.date,
  sum(observations.runs)::BIGINT AS runs,
  sum(observations.scored)::BIGINT AS scored,
  sum(observations.weight_exact)::DOUBLE / 1152921504606846976 AS weight,
  sum(observations.weight_square_exact)::DOUBLE / 1152921504606846976 AS weight_square,
  coalesce(sum(observations.value_exact)::DOUBLE / 1152921504606846976, 0)
  * any_value(units.unit) AS value_sum,
  coalesce(sum(observations.square_exact)::DOUBLE / 1152921504606846976, 0)
  * any_value(units.unit) ** 2 AS square_sum,
  list_sort(list_distinct([min(places.scored_with), max(places.scored_with)])) AS scored_with
FROM observations
INNER JOIN places ON observations.place = places.place
INNER JOIN units ON observations.metric = units.metric
GROUP BY
  places.agent_name,
  places.run_mode,
  places.release,
  places.dimension_value,
  observations.metric,
  places.task_id,
  places.date
ORDER BY
  places.agent_name,
  places.run_mode,
  places.release,
  places.dimension_value,
  observations.metric,
  places.task_id,
  places.date;
