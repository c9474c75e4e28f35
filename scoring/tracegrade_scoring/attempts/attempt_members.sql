-- The trajectories of each attempt: a root trajectory and all its sub-agents.
--
-- A run that was killed on purpose is not an attempt, and the runs of its sub-agents are in no
-- attempt. Source: docs/metrics.md, section 6.1.
--
-- Reads:
--   trajectories
-- Columns:
--   attempt_id     INTEGER  The root: a trajectory without a parent, or whose parent is not here.
--   trajectory_id  INTEGER  One row each; of the root itself too.
--   depth          INTEGER  Agents above it in the attempt; 0 for the root.
-- Order:
--   attempt_id, depth, trajectory_id
WITH RECURSIVE members AS (
  SELECT
    children.trajectory_id AS attempt_id,
    children.trajectory_id,
    0 AS depth
  FROM trajectories AS children
  LEFT JOIN trajectories AS parents ON children.parent_trajectory_id = parents.trajectory_id
  WHERE
    parents.trajectory_id IS NULL
    AND children.kill_point IS NULL
  UNION ALL
  SELECT
    members.attempt_id,
    trajectories.trajectory_id,
    members.depth + 1 AS depth
  FROM members
  INNER JOIN trajectories ON members.trajectory_id = trajectories.parent_trajectory_id
)

SELECT
  attempt_id,
  trajectory_id,
  depth
FROM members
ORDER BY attempt_id, depth, trajectory_id;
