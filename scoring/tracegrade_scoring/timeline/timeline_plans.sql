-- The plans of a run as they were declared.
--
-- Reads:
--   steps
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $date           DATE     The date of its trace; only this date's files are read.
-- Columns:
--   step_index  INTEGER  One row for each step with a plan.
--   plan        VARCHAR  In JSON, as it was sent.
-- Order:
--   step_index
SELECT
  step_index,
  plan
FROM steps
WHERE date = $date AND trajectory_id = $trajectory_id AND plan IS NOT NULL
ORDER BY step_index;
