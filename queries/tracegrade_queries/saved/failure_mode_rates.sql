-- How often each release shows each failure mode.
--
-- Reads:
--   failures
--   trajectory_scores
-- Columns:
--   release        VARCHAR  NULL if not sent. One row for each release and mode that it shows.
--   mode           VARCHAR  A failed trajectory that shows none is unclassified.
--   trajectories   BIGINT   That show it; at least 1.
--   share          DOUBLE   trajectories / those whose success was asked, in (0, 1].
--   failed         BIGINT   Of them, those that did not succeed.
--   example        VARCHAR  One of them, the first by id.
-- Order:
--   release, trajectories DESC, mode
WITH releases AS (
  SELECT
    release,
    count(*) AS attempts
  FROM trajectory_scores
  WHERE coalesce(success.reason, '') <> 'child_trajectory'
  GROUP BY release
),

modes AS (
  SELECT
    release,
    mode,
    count(DISTINCT trajectory_id) AS trajectories,
    count(DISTINCT trajectory_id) FILTER (WHERE NOT success) AS failed,
    min(trajectory_id) AS example
  FROM failures
  GROUP BY release, mode
)

SELECT
  modes.release,
  modes.mode,
  modes.trajectories,
  modes.trajectories / releases.attempts AS share,
  modes.failed,
  modes.example
FROM modes
INNER JOIN releases ON modes.release IS NOT DISTINCT FROM releases.release
ORDER BY modes.release ASC, modes.trajectories DESC, modes.mode ASC;
