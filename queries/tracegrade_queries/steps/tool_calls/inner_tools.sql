-- Model calls in whose span tools ran that they do not say to have requested: a client ran them by
-- itself and called the model again, so that what the span says was said after them.
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
