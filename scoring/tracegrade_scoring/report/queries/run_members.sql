-- Each run, a trajectory without a parent, with itself and every sub-agent below it.
--
-- Reads:
--   trajectories
-- As:
--   view
-- Columns:
--   root_id        VARCHAR  The run. One row for each of its trajectories.
--   trajectory_id  VARCHAR  The run itself, or a sub-agent's.
-- Order:
--   none
WITH RECURSIVE members AS (
  SELECT
    trajectory_id AS root_id,
    trajectory_id
  FROM trajectories
  WHERE parent_trajectory_id IS NULL
  UNION
  SELECT
    members.root_id,
    trajectories.trajectory_id
  FROM members
  INNER JOIN trajectories ON members.trajectory_id = trajectories.parent_trajectory_id
)

SELECT
  root_id,
  trajectory_id
FROM members;
