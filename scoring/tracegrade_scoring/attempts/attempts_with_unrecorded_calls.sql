-- Attempts that made, or may have made, calls which their traces do not hold.
--
-- Source: docs/metrics.md, section 0.1.
--
-- Reads:
--   attempt_members
--   trajectories
-- Columns:
--   attempt_id  INTEGER  One row each.
-- Order:
--   none
SELECT DISTINCT attempt_members.attempt_id
FROM trajectories
INNER JOIN attempt_members USING (trajectory_id)
WHERE list_contains(trajectories.flags, 'unrecorded_calls');
