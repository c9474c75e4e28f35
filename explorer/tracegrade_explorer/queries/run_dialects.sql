-- The ways of writing spans by which a run was read.
--
-- Reads:
--   run_index
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
-- Columns:
--   dialect  VARCHAR  One row each.
-- Order:
--   dialect
SELECT unnest(dialects) AS dialect
FROM run_index
WHERE trajectory_id = $trajectory_id
ORDER BY dialect;
