-- The fields that identify runs to a reader, for some runs.
--
-- Reads:
--   run_index
-- Parameters:
--   $ids  VARCHAR[]  The runs; those that are not listed are left out.
-- Columns:
--   trajectory_id  VARCHAR    One row each.
--   agent_name     VARCHAR    NULL if none is named.
--   release        VARCHAR    NULL if not sent.
--   task_id        VARCHAR    NULL if not known.
--   outcome        VARCHAR    succeeded | failed; NULL if not known.
--   start_time     TIMESTAMP  UTC; NULL if not known.
-- Order:
--   trajectory_id
SELECT
  trajectory_id,
  agent_name::VARCHAR AS agent_name,
  release::VARCHAR AS release,
  task_id::VARCHAR AS task_id,
  outcome::VARCHAR AS outcome,
  start_time
FROM run_index
WHERE list_contains($ids::VARCHAR[], trajectory_id)
ORDER BY trajectory_id;
