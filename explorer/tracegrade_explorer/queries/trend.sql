-- A metric over time, by release or another dimension: its value over the runs that were received
-- on each date.
--
-- Values are added up as for releases. Names beyond the ones with most runs are one row. Source:
-- docs/metrics.md, section 7.4.
--
-- Reads:
--   matching_runs
--   metric_parts
-- Parameters:
--   $days        BIGINT   Days of one part of time: 1, or 7.
--   $most        BIGINT   Names of which each has rows of its own.
--   $split       VARCHAR  release | agent | category | run_mode, or a dimension.
--   $task_means  BOOLEAN  Whether each task counts the same, and not each observation.
-- Columns:
--   date      DATE     The first date of a part of time. One row for each of the first three.
--   name      VARCHAR  The release, or the value of the dimension; NULL if not known.
--   is_other  BOOLEAN  TRUE: all names beyond those with most runs; name is NULL.
--   runs      BIGINT   At least 1.
--   measured  BIGINT   Runs with a value.
--   units     BIGINT   Tasks among these, and runs without a task.
--   value     DOUBLE   Sum of numerators / sum of denominators; NULL if that is 0 or unknown.
--   spread    DOUBLE   Standard error of the value, over tasks and the runs without one; NULL for
--                      less than two of these.
-- Order:
--   date, name, is_other
SELECT
  date,
  name,
  is_other,
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
  WITH named AS (
    SELECT
      matching_runs.trajectory_id,
      matching_runs.date,
      CASE $split  -- noqa: RF02
        WHEN 'release' THEN matching_runs.release::VARCHAR
        WHEN 'agent' THEN matching_runs.agent_name::VARCHAR
        WHEN 'category' THEN matching_runs.task_category::VARCHAR
        WHEN 'run_mode' THEN matching_runs.run_mode::VARCHAR
        ELSE matching_runs.dimensions[$split]  -- noqa: RF02
      END AS name,
      matching_runs.task_id::VARCHAR AS task_id,
      matching_runs.measured,
      metric_parts.numerator,
      metric_parts.denominator,
      metric_parts.weight
    FROM matching_runs
    LEFT JOIN metric_parts ON matching_runs.trajectory_id = metric_parts.trajectory_id
  ),

  names AS (
    SELECT
      name,
      row_number() OVER (ORDER BY count(*) DESC, name ASC) > $most AS is_other
    FROM named
    GROUP BY name
  ),

  units AS (
    SELECT
      (
        named.date
        - (epoch(named.date)::BIGINT // 86400 % $days)::INTEGER  -- noqa: RF02
      )::DATE AS date,
      if(names.is_other, NULL, named.name) AS name,
      names.is_other,
      if(
        $task_means::BOOLEAN,  -- noqa: RF02
        named.task_id,
        coalesce(named.task_id, named.trajectory_id)
      ) AS unit,
      count(*) AS runs,
      count(named.numerator) AS measured,
      if(
        $task_means::BOOLEAN,  -- noqa: RF02
        sum(named.weight * named.measured) / sum(named.weight),
        sum(named.weight * named.numerator)
      ) AS numerator,
      if(
        $task_means::BOOLEAN,  -- noqa: RF02
        if(count(named.numerator) > 0, 1.0, NULL),
        sum(named.weight * named.denominator)
      ) AS denominator
    FROM named
    INNER JOIN names ON named.name IS NOT DISTINCT FROM names.name
    GROUP BY ALL
  )

  SELECT * FROM units
) AS points
GROUP BY date, name, is_other
ORDER BY date, name, is_other;
