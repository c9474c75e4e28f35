-- The ways of writing spans by which a run was read.
--
-- Reads:
--   trajectories
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $date           DATE     The date of its trace, in whose files alone it is looked for.
-- Columns:
--   dialect  VARCHAR  One row each.
-- Order:
--   dialect
SELECT unnest(dialects) AS dialect
FROM trajectories
WHERE date = $date AND trajectory_id = $trajectory_id
ORDER BY dialect;
