-- Each decision point of an attempt beside each expectation of its task: do they fit?
--
-- Reads:
--   calls
--   decision_points
--   fitting_pairs
--   task_expected
--   task_matches
-- Columns:
--   attempt_id       INTEGER  One row for each attempt_id, point_index and position.
--   point_index      INTEGER  The decision point.
--   position         INTEGER  The expectation, from 0 in the task file.
--   same_decision    BOOLEAN  The span names this expectation.
--   tool_fits        BOOLEAN  The tool is the expected one, an accepted one, or of the effect.
--   arguments_fit    BOOLEAN  Every key given fits; NULL if that cannot be known.
--   arguments_given  BOOLEAN  The task gives at least one key.
--   unknown_because  VARCHAR  content_missing | input_unbound; NULL if arguments_fit is known.
--   wrong_argument   VARCHAR  The first key, by name, that does not fit; NULL if none.
--   found            VARCHAR  Its JSON; NULL if missing.
--   wanted           VARCHAR  JSON that was expected there.
-- Order:
--   none
SELECT
  decision_points.attempt_id,
  decision_points.point_index,
  task_expected.position,
  coalesce(calls.decision = task_expected.decision, FALSE) AS same_decision,
  fits.attempt_id IS NOT NULL AS tool_fits,
  fits.attempt_id IS NULL OR fits.arguments_fit AS arguments_fit,
  coalesce(fits.arguments_given, FALSE) AS arguments_given,
  fits.unknown_because,
  fits.wrong_argument,
  fits.found,
  fits.wanted
FROM decision_points
INNER JOIN calls USING (attempt_id, call_index)
INNER JOIN task_matches USING (attempt_id)
INNER JOIN task_expected USING (task_id)
LEFT JOIN fitting_pairs AS fits
  ON
    decision_points.attempt_id = fits.attempt_id
    AND decision_points.call_index = fits.call_index
    AND task_expected.position = fits.position;
