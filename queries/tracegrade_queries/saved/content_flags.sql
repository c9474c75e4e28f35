-- Share of the steps' content that is missing or damaged, by service: cut, redacted, unreadable.
--
-- Reads:
--   steps
--   trajectories
-- Columns:
--   service_name  VARCHAR  NULL if not sent. One row for each service_name, dialect and flag.
--   dialect       VARCHAR
--   flag          VARCHAR  One of the flags that the table steps declares.
--   steps         BIGINT   At least 1.
--   share         DOUBLE   steps / all steps of the service and dialect, in (0, 1].
--   trajectories  BIGINT   Trajectories that contain these steps.
-- Order:
--   steps DESC, service_name, dialect, flag
WITH flagged AS (
  SELECT
    trajectories.service_name,
    steps.dialect,
    steps.trajectory_id,
    steps.flags,
    count(*) OVER (PARTITION BY trajectories.service_name, steps.dialect) AS of_service
  FROM steps
  INNER JOIN trajectories USING (trajectory_id)
),

flags AS (
  SELECT
    service_name,
    dialect,
    trajectory_id,
    of_service,
    unnest(flags) AS flag
  FROM flagged
)

SELECT
  service_name,
  dialect,
  flag,
  count(*) AS steps,
  count(*) / any_value(of_service) AS share,
  count(DISTINCT trajectory_id) AS trajectories
FROM flags
GROUP BY service_name, dialect, flag
ORDER BY steps DESC, service_name ASC, dialect ASC, flag ASC;
