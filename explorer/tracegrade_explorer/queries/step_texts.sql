-- One step's texts, whole, and the span of the model call that produced it.
--
-- Reads:
--   steps
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $date           DATE     The date of its trace; only this date's files are read.
--   $step_index     INTEGER  The step.
-- Columns:
--   arguments        VARCHAR  Canonical JSON; NULL if not captured.
--   result           VARCHAR  The tool's result; NULL if not captured.
--   content          VARCHAR  Thought, message, answer, plan, or observation; else NULL.
--   request_span_id  VARCHAR  NULL if no model call did it.
-- Order:
--   one row
SELECT
  arguments,
  result,
  coalesce(content, plan) AS content,
  request_span_id
FROM steps
WHERE date = $date AND trajectory_id = $trajectory_id AND step_index = $step_index
ORDER BY step_index;
