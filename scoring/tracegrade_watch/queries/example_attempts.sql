-- Newest attempts of a release with the worst values of a metric.
--
-- Reads:
--   run_usage
--   scores
--   trajectory_scores
--   watched_attempts
-- Parameters:
--   $agent_name       VARCHAR    NULL for runs that name none.
--   $run_mode         VARCHAR    NULL for runs that declare none.
--   $dimension_value  VARCHAR    NULL without a dimension.
--   $release          VARCHAR    NULL for runs that sent none.
--   $any_release      BOOLEAN    TRUE: of any release.
--   $date             DATE       The day; NULL for any.
--   $metric           VARCHAR    Name of the metric.
--   $stored           VARCHAR[]  The metric if trajectory_scores has its column; else any it has.
--   $better           INTEGER    1 if more is better, -1 if less is.
--   $rows             BIGINT     Attempts at most.
-- Columns:
--   trajectory_id  VARCHAR  One row each.
-- Order:
--   none
WITH numbers AS (
  SELECT
    trajectory_id,
    score.value
  FROM trajectory_scores
  UNPIVOT (score FOR metric IN (COLUMNS(LAMBDA name: list_contains($stored::VARCHAR[], name))))
  WHERE metric = $metric::VARCHAR
  UNION ALL
  SELECT
    trajectory_id,
    value
  FROM scores
  WHERE NOT list_contains($stored::VARCHAR[], $metric::VARCHAR) AND metric = $metric::VARCHAR
  UNION ALL
  SELECT
    trajectory_id,
    amount AS value
  FROM run_usage
  WHERE metric = $metric::VARCHAR
)

SELECT watched_attempts.trajectory_id
FROM watched_attempts
INNER JOIN numbers ON watched_attempts.trajectory_id = numbers.trajectory_id
WHERE
  watched_attempts.agent_name IS NOT DISTINCT FROM $agent_name::VARCHAR  -- noqa: RF02
  AND watched_attempts.run_mode IS NOT DISTINCT FROM $run_mode::VARCHAR  -- noqa: RF02
  AND watched_attempts.dimension_value
  IS NOT DISTINCT FROM $dimension_value::VARCHAR  -- noqa: RF02
  AND (
    $any_release::BOOLEAN  -- noqa: RF02
    OR watched_attempts.release IS NOT DISTINCT FROM $release::VARCHAR  -- noqa: RF02
  )
  AND coalesce(watched_attempts.date = $date::DATE, $date::DATE IS NULL)  -- noqa: RF02
  AND numbers.value IS NOT NULL
ORDER BY
  numbers.value * $better::INTEGER ASC,  -- noqa: RF02
  watched_attempts.date DESC,
  watched_attempts.trajectory_id ASC
LIMIT $rows::BIGINT;
