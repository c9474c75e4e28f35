-- Releases of what is watched, in their order, and the days on which each has values.
--
-- Reads:
--   task_releases
--   watched_days
-- Columns:
--   agent_name       VARCHAR  NULL if none is named.
--   run_mode         VARCHAR  NULL if not declared.
--   dimension_value  VARCHAR  NULL without a dimension.
--   metric           VARCHAR  One row for each of these four and position.
--   position         BIGINT   Place of the release among those of the agent and run mode, from 1.
--   release          VARCHAR  NULL if not sent.
--   days             BIGINT   Days with a value.
--   runs             BIGINT   Runs, with a value or without.
--   scored           BIGINT   Observations with a value.
-- Order:
--   agent_name, run_mode, dimension_value, metric, position
WITH places AS (
  SELECT DISTINCT
    agent_name,
    run_mode,
    release,
    position
  FROM task_releases
)

SELECT
  watched_days.agent_name,
  watched_days.run_mode,
  watched_days.dimension_value,
  watched_days.metric,
  places.position,
  watched_days.release,
  count(DISTINCT watched_days.date) FILTER (WHERE watched_days.scored > 0) AS days,
  sum(watched_days.runs)::BIGINT AS runs,
  sum(watched_days.scored)::BIGINT AS scored
FROM watched_days
INNER JOIN places
  ON
    watched_days.agent_name IS NOT DISTINCT FROM places.agent_name
    AND watched_days.run_mode IS NOT DISTINCT FROM places.run_mode
    AND watched_days.release IS NOT DISTINCT FROM places.release
GROUP BY
  watched_days.agent_name,
  watched_days.run_mode,
  watched_days.dimension_value,
  watched_days.metric,
  places.position,
  watched_days.release
ORDER BY
  watched_days.agent_name,
  watched_days.run_mode,
  watched_days.dimension_value,
  watched_days.metric,
  places.position;
