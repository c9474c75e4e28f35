-- Number of runs that did not begin and end by themselves, by kind; a resumed run counts once.
--
-- Reads:
--   kept_continued
--   trajectories
--   trajectory_scores
-- Columns:
--   runs           BIGINT  Trajectories without a parent. One row.
--   crashed        BIGINT  Scored, and ended in an error.
--   unfinished     BIGINT  Scored, and their end has not come.
--   interrupted    BIGINT  Ended waiting for a person or another system.
--   resumed        BIGINT  Go on with an earlier one.
--   waiting        BIGINT  Not scored yet, because their root may still come.
--   waiting_until  BIGINT  Time at which all of those are scored without it, ns since 1970; NULL
--                          if there are none.
-- Order:
--   one row
WITH resuming AS (
  SELECT DISTINCT continued_by AS trajectory_id
  FROM kept_continued
),

roots AS (
  SELECT
    trajectories.trace_received_ns,
    NOT trajectories.complete
    AND NOT coalesce(trajectories.imported, TRUE)
    AND trajectory_scores.trajectory_id IS NULL AS waits,
    coalesce(trajectory_scores.termination.label = 'crashed', FALSE) AS crashed,
    coalesce(trajectory_scores.termination.label = 'unfinished', FALSE) AS unfinished,
    coalesce(trajectories.interrupted, FALSE) AS interrupted,
    resuming.trajectory_id IS NOT NULL AS resumed
  FROM trajectories
  LEFT JOIN trajectory_scores USING (trajectory_id)
  ANTI JOIN kept_continued ON trajectories.trajectory_id = kept_continued.trajectory_id
  LEFT JOIN resuming ON trajectories.trajectory_id = resuming.trajectory_id
  WHERE
    trajectories.parent_trajectory_id IS NULL
    AND (trajectories.is_fragment IS NOT TRUE OR trajectory_scores.trajectory_id IS NOT NULL)
)

SELECT
  count(*) AS runs,
  count(*) FILTER (WHERE crashed) AS crashed,
  count(*) FILTER (WHERE unfinished) AS unfinished,
  count(*) FILTER (WHERE interrupted) AS interrupted,
  count(*) FILTER (WHERE resumed) AS resumed,
  count(*) FILTER (WHERE waits) AS waiting,
  max(trace_received_ns) FILTER (WHERE waits) + 600000000000 AS waiting_until
FROM roots
ORDER BY runs;
