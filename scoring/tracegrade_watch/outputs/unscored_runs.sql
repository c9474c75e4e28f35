-- Traces that are built and whose runs have no scores yet.
--
-- Reads:
--   trajectories
--   trajectory_scores
-- Columns:
--   traces    BIGINT  Their number.
--   first_ns  BIGINT  Receipt time of the earliest of their last spans, ns since 1970; NULL
--                     without any.
-- Order:
--   one row
SELECT
  count(DISTINCT trajectories.trace_id) AS traces,
  min(trajectories.trace_received_ns) AS first_ns
FROM trajectories
ANTI JOIN trajectory_scores ON trajectories.trajectory_id = trajectory_scores.trajectory_id
WHERE trajectories.is_fragment IS NOT TRUE;
