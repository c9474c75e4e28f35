-- Runs of the bucket, each one trajectory.
--
-- Until trajectories are built, a run is identified by a number, since ids are long texts.
--
-- Reads:
--   operations
--   run_starts
--   operation_runs
-- Columns:
--   run            BIGINT   As in operation_runs; one row each.
--   root           BIGINT   Key of the run's agent; NULL for a trace without agents.
--   trace_id       VARCHAR
--   trajectory_id  VARCHAR
--   position       BIGINT   Its position in the order of trajectory ids, from 1.
-- Order:
--   none
WITH numbers AS (
  SELECT DISTINCT run
  FROM operation_runs
),

identified AS (
  SELECT
    numbers.run,
    run_starts.key AS root,
    operations.trace_id,
    operations.trace_id || '-' || coalesce(run_starts.span_id, '0000000000000000')
      AS trajectory_id
  FROM numbers
  INNER JOIN operations ON numbers.run = operations.key
  LEFT JOIN run_starts ON numbers.run = run_starts.key
)

SELECT
  *,
  row_number() OVER (ORDER BY trajectory_id) AS position
FROM identified;
