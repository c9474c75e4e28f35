-- Sums of metrics by agent, run mode, release, task and day, from which all tests are computed.
--
-- An observation is the value of one run. Runs of a conversation are one observation, the mean of
-- their values, on the first of their days and of the first of their tasks by name: they are not
-- independent. Values are added as whole multiples of 2^-60, so no order of rows changes a bit of
-- a sum.
--
-- Reads:
--   custom_scores
--   observed_step_scores
--   run_usage
--   trajectory_scores
--   watched_attempts
-- Parameters:
--   $stored  VARCHAR[]  Metrics with a column of trajectory_scores; at least one.
--   $others  VARCHAR[]  Metrics that are worked out at read, of users' own, or facts of runs.
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
WITH stored AS (
  SELECT
    watched_attempts.place,
    watched_attempts.conversation,
    watched_attempts.sample_weight AS weight,
    COLUMNS(LAMBDA name: list_contains($stored::VARCHAR[], name)).value  -- noqa: RF02
  FROM trajectory_scores
  INNER JOIN watched_attempts USING (trajectory_id)
),

-- A row for each observation, with a column for each metric: a third of the time of long rows.
stored_observations AS (
  SELECT
    1 AS runs,
    * EXCLUDE (conversation)
  FROM stored
  WHERE conversation IS NULL
  UNION ALL BY NAME
  SELECT
    count(*) AS runs,
    any_value(place) AS place,
    max(weight) AS weight,
    sum(
      round(COLUMNS(* EXCLUDE (place, conversation, weight)) * 1152921504606846976)::HUGEINT
    )::DOUBLE
    / (count(COLUMNS(* EXCLUDE (place, conversation, weight))) * 1152921504606846976.0)
  FROM stored
  WHERE conversation IS NOT NULL
  GROUP BY conversation
),

others AS (
  SELECT
    trajectory_id,
    metric,
    score.value
  FROM observed_step_scores
  UNPIVOT (score FOR metric IN (step_efficiency, step_ratio))
  WHERE
    list_has_any($others::VARCHAR[], ['step_efficiency', 'step_ratio'])
    AND list_contains($others::VARCHAR[], metric)
  UNION ALL
  SELECT
    trajectory_id,
    metric,
    score.value
  FROM custom_scores
  WHERE list_contains($others::VARCHAR[], metric)
  UNION ALL
  SELECT
    trajectory_id,
    metric,
    amount AS value
  FROM run_usage
  WHERE list_contains($others::VARCHAR[], metric)
),

other_numbers AS (
  SELECT
    watched_attempts.place,
    watched_attempts.conversation,
    watched_attempts.sample_weight AS weight,
    others.metric,
    others.value
  FROM others
  INNER JOIN watched_attempts USING (trajectory_id)
),

greatest_row AS (
  SELECT max(abs(COLUMNS(* EXCLUDE (place, conversation, weight))))
  FROM stored
),

greatest_values AS (
  SELECT
    metric,
    greatest_value
  FROM greatest_row
  UNPIVOT INCLUDE NULLS (greatest_value FOR metric IN (COLUMNS(*)))
  UNION ALL
  SELECT
    metric,
    max(abs(value)) AS greatest_value
  FROM other_numbers
  GROUP BY metric
),

-- Squares of great values do not fit in units of 2^-60, so a metric with values above 2^20 is
-- added in units that are greater by a power of two.
units AS (
  SELECT
    metric,
    2.0 ** greatest(0, ceil(log2(greatest(greatest_value, 1))) - 20) AS unit
  FROM greatest_values
),

observations AS (
  SELECT
    place,
    metric,
    runs,
    weight,
    value
  FROM stored_observations
  UNPIVOT INCLUDE NULLS (value FOR metric IN (COLUMNS(* EXCLUDE (place, runs, weight))))
  UNION ALL
  SELECT
    place,
    metric,
    1 AS runs,
    weight,
    value
  FROM other_numbers
  WHERE conversation IS NULL
  UNION ALL
  SELECT
    other_numbers.place,
    other_numbers.metric,
    count(*) AS runs,
    max(other_numbers.weight) AS weight,
    sum(round(other_numbers.value / units.unit * 1152921504606846976)::HUGEINT)::DOUBLE
    / (count(other_numbers.value) * 1152921504606846976.0) * any_value(units.unit) AS value
  FROM other_numbers
  INNER JOIN units ON other_numbers.metric = units.metric
  WHERE other_numbers.conversation IS NOT NULL
  GROUP BY other_numbers.place, other_numbers.conversation, other_numbers.metric
),

scaled AS (
  SELECT
    observations.place,
    observations.metric,
    observations.runs,
    observations.weight,
    observations.value / units.unit AS value
  FROM observations
  INNER JOIN units ON observations.metric = units.metric
),

sums AS (
  SELECT
    place,
    metric,
    sum(runs) AS runs,
    count(value) AS scored,
    sum(
      round(if(value IS NULL, 0, weight) * 1152921504606846976)::HUGEINT
    ) AS weight_exact,
    sum(
      round(if(value IS NULL, 0, weight ** 2) * 1152921504606846976)::HUGEINT
    ) AS weight_square_exact,
    sum(round(weight * value * 1152921504606846976)::HUGEINT) AS value_exact,
    sum(round(weight * value ** 2 * 1152921504606846976)::HUGEINT) AS square_exact
  FROM scaled
  GROUP BY place, metric
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
  sums.metric,
  places.task_id,
  places.date,
  sum(sums.runs)::BIGINT AS runs,
  sum(sums.scored)::BIGINT AS scored,
  sum(sums.weight_exact)::DOUBLE / 1152921504606846976 AS weight,
  sum(sums.weight_square_exact)::DOUBLE / 1152921504606846976 AS weight_square,
  coalesce(sum(sums.value_exact)::DOUBLE / 1152921504606846976, 0)
  * any_value(units.unit) AS value_sum,
  coalesce(sum(sums.square_exact)::DOUBLE / 1152921504606846976, 0)
  * any_value(units.unit) ** 2 AS square_sum,
  list_sort(list_distinct([min(places.scored_with), max(places.scored_with)])) AS scored_with
FROM sums
INNER JOIN places ON sums.place = places.place
INNER JOIN units ON sums.metric = units.metric
GROUP BY
  places.agent_name,
  places.run_mode,
  places.release,
  places.dimension_value,
  sums.metric,
  places.task_id,
  places.date
ORDER BY
  places.agent_name,
  places.run_mode,
  places.release,
  places.dimension_value,
  sums.metric,
  places.task_id,
  places.date;
