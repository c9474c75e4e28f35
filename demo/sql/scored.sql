-- Numbers of trajectories and of their steps.
--
-- Reads:
--   trajectories
-- Columns:
--   trajectories  BIGINT  One row in all.
--   killed        BIGINT  Trajectories that were killed on purpose.
--   steps         BIGINT  0 if there is no trajectory.
-- Order:
--   trajectories
SELECT
  count(*) AS trajectories,
  count(kill_point) AS killed,
  coalesce(sum(step_count), 0)::BIGINT AS steps
FROM trajectories
ORDER BY trajectories;
