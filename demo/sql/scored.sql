-- How many trajectories were built, and of how many steps.
--
-- Reads:
--   trajectories
-- Columns:
--   trajectories  BIGINT  One row in all.
--   killed        BIGINT  Of them, killed on purpose.
--   steps         BIGINT  0 if there is no trajectory.
-- Order:
--   trajectories
SELECT
  count(*) AS trajectories,
  count(kill_point) AS killed,
  coalesce(sum(step_count), 0)::BIGINT AS steps
FROM trajectories
ORDER BY trajectories;
