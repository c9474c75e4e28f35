-- The remaining state of each kill on purpose, and its score.
--
-- Reads:
--   harness_trials
-- Columns:
--   release         VARCHAR  One row for each kill.
--   killed          VARCHAR  early | mid | late.
--   after_call      BIGINT   Tool calls that had returned.
--   at_once         DOUBLE   The state that was left, in [0, 10].
--   after_recovery  DOUBLE   The same after the agent's recovery command, if it has one.
--   objects_left    BIGINT   Files that still differ from their state before the run.
--   trajectory_id   VARCHAR  Id of the run that was not killed; reviews name it.
-- Order:
--   release, boundary
SELECT
  release,
  kill_point AS killed,
  boundary AS after_call,
  immediate AS at_once,
  after_recovery,
  json_array_length(leftovers)::BIGINT AS objects_left,
  baseline_trajectory_id AS trajectory_id
FROM harness_trials
WHERE kill_point IS NOT NULL
ORDER BY release, boundary;
