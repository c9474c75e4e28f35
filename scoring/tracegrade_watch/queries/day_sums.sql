-- The days of one metric in some releases of an agent and run mode, by task.
--
-- Reads:
--   watched_days
-- Parameters:
--   $agent_name       VARCHAR    NULL for runs that name none.
--   $run_mode         VARCHAR    NULL for runs that declare none.
--   $dimension_value  VARCHAR    NULL without a dimension.
--   $metric           VARCHAR    Name of the metric.
--   $releases         VARCHAR[]  Releases; NULL is the one of runs that sent none.
-- Columns:
--   release        VARCHAR    NULL if not sent.
--   date           DATE       UTC.
--   task_id        VARCHAR    NULL if unknown. One row for each of the three.
--   runs           BIGINT     Runs, with a value or without.
--   scored         BIGINT     Observations with a value.
--   weight         DOUBLE     Sum of their weights.
--   weight_square  DOUBLE     Sum of the squares of the weights.
--   value_sum      DOUBLE     Sum of the values, by weight.
--   square_sum     DOUBLE     Sum of the squares of the values, by weight.
--   scored_with    VARCHAR[]  Versions of scorer and task, at most two, sorted.
-- Order:
--   release, date, task_id
SELECT
  release,
  date,
  task_id,
  runs,
  scored,
  weight,
  weight_square,
  value_sum,
  square_sum,
  scored_with
FROM watched_days
WHERE
  agent_name IS NOT DISTINCT FROM $agent_name::VARCHAR
  AND run_mode IS NOT DISTINCT FROM $run_mode::VARCHAR
  AND dimension_value IS NOT DISTINCT FROM $dimension_value::VARCHAR
  AND metric = $metric::VARCHAR
  AND (
    list_contains($releases::VARCHAR[], release)
    OR (release IS NULL AND len($releases::VARCHAR[]) > list_count($releases::VARCHAR[]))
  )
ORDER BY release, date, task_id;
