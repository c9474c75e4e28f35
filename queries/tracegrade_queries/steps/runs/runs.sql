-- Runs of the bucket, each one trajectory.
--
-- Between the operations and what is built a run is its number, since ids are long texts.
--
-- Reads:
--   operations
--   run_agents
--   runs_of_operations
-- Columns:
--   run            BIGINT   As in runs_of_operations; one row each.
--   root           BIGINT   Key of the run's agent; NULL for a trace without agents.
--   trace_id       VARCHAR
--   trajectory_id  VARCHAR
--   place          BIGINT   Its place in the order of trajectory ids, from 1.
-- Order:
--   none
WITH numbers AS (
  SELECT DISTINCT run
  FROM runs_of_operations
),

identified AS (
  SELECT
    numbers.run,
    run_agents.key AS root,
    operations.trace_id,
    operations.trace_id || '-' || coalesce(run_agents.span_id, '0000000000000000')
      AS trajectory_id
  FROM numbers
  INNER JOIN operations ON numbers.run = operations.key
  LEFT JOIN run_agents ON numbers.run = run_agents.key
)

SELECT
  *,
  row_number() OVER (ORDER BY trajectory_id) AS place
FROM identified;
