-- Attempts that gave, or may have given, a final answer which their traces do not hold.
--
-- Source: docs/metrics.md, section 0.5.
--
-- Reads:
--   steps
--   trajectories
-- Columns:
--   attempt_id  INTEGER  Of a root or a sub-agent; one row each.
-- Order:
--   none
SELECT trajectory_id AS attempt_id
FROM trajectories
WHERE list_contains(flags, 'unrecorded_answer')
UNION
SELECT steps.trajectory_id AS attempt_id
FROM steps
INNER JOIN trajectories USING (trajectory_id)
WHERE
  steps.kind = 'answer'
  AND steps.content IS NULL
  AND trajectories.final_answer IS NULL;
