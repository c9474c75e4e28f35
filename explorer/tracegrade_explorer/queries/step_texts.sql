-- One step's texts, whole.
--
-- Reads:
--   steps
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $date           DATE     The date of its trace, in whose files alone it is looked for.
--   $step_index     INTEGER  The step.
-- Columns:
--   arguments  VARCHAR  Canonical JSON; NULL if not captured.
--   result     VARCHAR  What the tool returned; NULL if not captured.
--   content    VARCHAR  Thought, message, answer, plan, or what the model saw; else NULL.
-- Order:
--   one row
SELECT
  arguments,
  result,
  coalesce(content, plan) AS content
FROM steps
WHERE date = $date AND trajectory_id = $trajectory_id AND step_index = $step_index
ORDER BY step_index;
