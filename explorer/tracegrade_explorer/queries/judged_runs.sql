-- The runs of the index with a verdict on them, or on their trace if they are outermost runs.
--
-- Reads:
--   run_index
--   trajectories
--   verdicts
-- Columns:
--   seq  INTEGER  Place of the run in the index; one row each.
-- Order:
--   none
WITH named AS (
  SELECT DISTINCT trajectory_id AS name
  FROM verdicts
)

SELECT run_index.seq
FROM run_index
INNER JOIN trajectories ON run_index.trajectory_id = trajectories.trajectory_id
WHERE
  trajectories.trajectory_id IN (SELECT named.name FROM named)
  OR (
    trajectories.parent_trajectory_id IS NULL
    AND trajectories.trace_id IN (SELECT named.name FROM named)
  );
