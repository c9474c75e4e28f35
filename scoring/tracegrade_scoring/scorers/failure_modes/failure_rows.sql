-- Evidence for every failure mode: the attempts that show it, and the first step that does.
--
-- A failed attempt that shows none has one row, `unclassified`, so that the distribution over
-- failed attempts is complete. Source: docs/metrics.md, section 9.
--
-- Reads:
--   attempts
--   calls
--   failure_modes
--   steps
-- Columns:
--   trajectory_id       INTEGER  The attempt; one row for each trajectory_id and mode.
--   mode                VARCHAR  Name of the mode, or unclassified.
--   step_trajectory_id  INTEGER  The root or sub-agent whose step it is; NULL without a step.
--   step_index          INTEGER  In that trajectory; NULL without a step.
--   span_id             VARCHAR  Of the step; NULL without one.
--   source              VARCHAR  static: no judge had a part in it.
--   detail              VARCHAR  What it shows; NULL if unclassified.
--   success             BOOLEAN  Whether the attempt succeeded; NULL if not known.
-- Order:
--   trajectory_id, mode
SELECT
  attempts.attempt_id AS trajectory_id,
  coalesce(failure_modes.mode, 'unclassified') AS mode,
  coalesce(calls.trajectory_id, answers.trajectory_id) AS step_trajectory_id,
  coalesce(calls.step_index, answers.step_index) AS step_index,
  coalesce(calls.span_id, answers.span_id) AS span_id,
  'static' AS source,
  left(failure_modes.detail, 500) AS detail,
  attempts.success
FROM attempts
LEFT JOIN failure_modes USING (attempt_id)
LEFT JOIN calls USING (attempt_id, call_index)
LEFT JOIN steps AS answers
  ON
    failure_modes.attempt_id = answers.trajectory_id
    AND failure_modes.step_index = answers.step_index
    AND answers.kind = 'answer'
WHERE
  failure_modes.mode IS NOT NULL
  OR attempts.success IS FALSE
ORDER BY trajectory_id, mode;
