-- The trajectories whose id begins with a text: what it takes to find the one that is meant.
--
-- Reads:
--   trajectories
-- Parameters:
--   $name  VARCHAR  The id or its beginning.
-- Columns:
--   trajectory_id  VARCHAR  One row each; an equal one comes first.
--   date           DATE     Date the trace was first received, UTC.
-- Order:
--   equal to $name first, then trajectory_id; at most 10 rows
SELECT
  trajectory_id,
  date
FROM trajectories
WHERE starts_with(trajectory_id, $name)
ORDER BY trajectory_id != $name, trajectory_id
LIMIT 10;
