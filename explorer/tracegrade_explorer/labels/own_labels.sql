-- One person's labels of a run and of its steps that count.
--
-- Reads:
--   counted_verdicts
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $source         VARCHAR  The person, as human:NAME.
-- Columns:
--   subject             VARCHAR    success | step.
--   label               VARCHAR    good | bad | unsure, or an imported value; NULL for a step.
--   value               DOUBLE     1 | 0; NULL if unsure.
--   tag                 VARCHAR    The failure; NULL if not stated.
--   evidence            VARCHAR    A note; NULL if none.
--   step_trajectory_id  VARCHAR    Trajectory of the step; NULL unless subject is step.
--   step_index          INTEGER    Index at the time of the label; NULL unless subject is step.
--   span_id             VARCHAR    NULL unless subject is step.
-- Order:
--   subject descending, step_index
SELECT
  subject,
  label,
  value,
  tag,
  evidence,
  step_trajectory_id,
  step_index,
  span_id
FROM counted_verdicts
WHERE trajectory_id = $trajectory_id AND source = $source AND subject IN ('success', 'step')
ORDER BY subject DESC, step_index ASC;
