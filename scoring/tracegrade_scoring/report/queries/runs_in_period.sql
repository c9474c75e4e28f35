-- Runs that began in a period, with the runs of their sub-agents.
--
-- A run without a known start is in none.
--
-- Reads:
--   trajectories
-- Parameters:
--   $since  TIMESTAMP  Begun at or after it, UTC; NULL for no bound.
--   $until  TIMESTAMP  Begun before it, UTC; NULL for no bound.
-- Columns:
--   trajectory_id  VARCHAR  One row each.
-- Order:
--   trajectory_id
WITH RECURSIVE members AS (
  SELECT trajectory_id
  FROM trajectories
  WHERE
    parent_trajectory_id IS NULL
    -- What an import makes up begins with the year 2000, a second for each run.
    AND start_time >= '2001-01-01'
    AND ($since::TIMESTAMP IS NULL OR start_time >= $since::TIMESTAMP)
    AND ($until::TIMESTAMP IS NULL OR start_time < $until::TIMESTAMP)
  UNION
  SELECT trajectories.trajectory_id
  FROM members
  INNER JOIN trajectories ON members.trajectory_id = trajectories.parent_trajectory_id
)

SELECT trajectory_id
FROM members
ORDER BY trajectory_id;
