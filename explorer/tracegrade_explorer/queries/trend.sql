-- A metric over time, by release: its value over the runs that were received on each date.
--
-- Values are added up as for releases. Source: docs/metrics.md, section 7.4.
--
-- Reads:
--   matching_runs
--   metric_parts
-- Parameters:
--   $days        BIGINT   Days of one part of time: 1, or 7.
--   $task_means  BOOLEAN  Whether each task counts the same, and not each observation.
-- Columns:
--   date      DATE     The first date of a part of time. One row for each and release.
--   release   VARCHAR  NULL if not sent.
--   runs      BIGINT   At least 1.
--   measured  BIGINT   Runs with a value.
--   units     BIGINT   Tasks among these, and runs without a task.
--   value     DOUBLE   Sum of numerators / sum of denominators; NULL if that is 0 or unknown.
--   spread    DOUBLE   Standard error of the value, over tasks and the runs without one; NULL for
--                      less than two of these.
-- Order:
--   date, release
SELECT
  date,
  release,
  sum(runs)::BIGINT AS runs,
  sum(measured)::BIGINT AS measured,
  count(numerator) AS units,
  sum(numerator) / nullif(sum(denominator), 0) AS value,
  if(
    count(numerator) < 2,
    NULL,
    sqrt(
      count(numerator) / (count(numerator) - 1) * greatest(
        sum(numerator * numerator)
        - 2 * (sum(numerator) / nullif(sum(denominator), 0)) * sum(numerator * denominator)
        + (sum(numerator) / nullif(sum(denominator), 0)) ** 2 * sum(denominator * denominator),
        0
      )
    ) / nullif(sum(denominator), 0)
  ) AS spread
FROM (
  SELECT
    (date - (epoch(date)::BIGINT // 86400 % $days)::INTEGER)::DATE AS date,
    release,
    if($task_means, task_id, coalesce(task_id, trajectory_id)) AS unit,
    count(*) AS runs,
    count(numerator) AS measured,
    if($task_means, sum(weight * measured) / sum(weight), sum(weight * numerator)) AS numerator,
    if(
      $task_means, if(count(numerator) > 0, 1.0, NULL), sum(weight * denominator)
    ) AS denominator
  FROM (
    SELECT
      matching_runs.trajectory_id,
      matching_runs.date,
      matching_runs.release::VARCHAR AS release,
      matching_runs.task_id::VARCHAR AS task_id,
      matching_runs.measured,
      metric_parts.numerator,
      metric_parts.denominator,
      metric_parts.weight
    FROM matching_runs
    LEFT JOIN metric_parts ON matching_runs.trajectory_id = metric_parts.trajectory_id
  ) AS parts
  GROUP BY ALL
) AS units
GROUP BY date, release
ORDER BY date, release;
