-- Runs of a release, with the runs of their sub-agents, which may name another release or none.
--
-- Reads:
--   trajectories
--   trajectory_scores
-- Parameters:
--   $release  VARCHAR  The release.
-- Columns:
--   trajectory_id  VARCHAR  One row each.
-- Order:
--   trajectory_id
WITH traces AS (
  SELECT DISTINCT trajectories.trace_id
  FROM trajectory_scores
  INNER JOIN trajectories USING (trajectory_id)
  WHERE trajectory_scores.release = $release  -- noqa: RF02
)

SELECT trajectories.trajectory_id
FROM trajectories
INNER JOIN traces USING (trace_id)
ORDER BY trajectories.trajectory_id;
