-- The runs of the index, in their order: the newest first.
--
-- Reads:
--   trajectories
-- Parameters:
--   $max_runs  BIGINT  Keep so many of the newest.
-- Columns:
--   trajectory_id  VARCHAR  One row each.
--   date           DATE     Date its trace was first received, UTC.
--   seq            INTEGER  Place from the newest to the oldest, from 0 without gaps.
-- Order:
--   seq
SELECT
  trajectory_id,
  date,
  (position - 1)::INTEGER AS seq
FROM (
  SELECT
    trajectory_id,
    date,
    row_number() OVER (
      -- Times that an import makes up begin with the year 2000, a second for each run.
      ORDER BY
        CASE WHEN start_time >= '2001-01-01' THEN start_time ELSE date END DESC,
        trajectory_id
    ) AS position
  FROM trajectories
) AS positions
WHERE position <= $max_runs
ORDER BY seq;
