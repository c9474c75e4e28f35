-- Results of the calls whose tool has a pattern of its errors.
--
-- Reads:
--   observed_results
--   steps
--   task_tools
-- Needs:
--   task_tools WHERE error_pattern IS NOT NULL
-- Columns:
--   trajectory_id  INTEGER  Trajectory of the call.
--   step_index     INTEGER  Of the call; one row for each trajectory_id and step_index.
--   pattern        VARCHAR  RE2; never NULL.
--   returned       VARCHAR  What the tool returned, else what the model saw; NULL if neither.
-- Order:
--   none
SELECT
  steps.trajectory_id,
  steps.step_index,
  task_tools.error_pattern AS pattern,
  coalesce(steps.result, observed_results.content) AS returned
FROM steps
INNER JOIN task_tools USING (tool_name)
LEFT JOIN observed_results USING (trajectory_id, step_index)
WHERE
  steps.kind = 'tool_call'
  AND task_tools.error_pattern IS NOT NULL;
