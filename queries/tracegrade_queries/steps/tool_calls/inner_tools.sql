-- Model calls whose span contains tools that they do not request.
--
-- A client ran these tools by itself and called the model again, so the span's output came after
-- them.
--
-- Reads:
--   executions
--   known_parents
--   model_members
--   requests
-- Needs:
--   executions
--   known_parents WHERE parent_operation = 'model' AND operation <> 'model'
-- Columns:
--   model_call  BIGINT  One row each.
--   end_ns      BIGINT  End of the last of the tools.
-- Order:
--   none
SELECT
  model_members.model_call,
  max(executions.end_ns) AS end_ns
FROM known_parents
INNER JOIN executions ON known_parents.key = executions.key
INNER JOIN model_members ON known_parents.parent = model_members.key
ANTI JOIN requests
  ON model_members.model_call = requests.model_call AND NOT requests.is_carried
WHERE known_parents.parent_operation = 'model'
GROUP BY model_members.model_call;
