-- Every failed call and its outcome, as metrics of users' own read them: `failed_calls`.
--
-- Reads:
--   failed_call_rows
--   trajectory_ids
-- As:
--   view
-- Columns:
--   attempt_id     VARCHAR  The attempt; one row for each of its failed calls.
--   trajectory_id  VARCHAR  The root or sub-agent that made the call.
--   step_index     INTEGER  In that trajectory.
--   tool_name      VARCHAR  NULL if the trace does not say.
--   failed_by      VARCHAR  status | result | error_pattern.
--   outcome        VARCHAR  recovered | retried | lost; NULL if it cannot be known.
-- Order:
--   attempt_id, trajectory_id, step_index
SELECT
  attempt_of.id AS attempt_id,
  run_of.id AS trajectory_id,
  failed_call_rows.step_index,
  failed_call_rows.tool_name,
  failed_call_rows.failed_by,
  failed_call_rows.outcome
FROM failed_call_rows
INNER JOIN trajectory_ids AS attempt_of
  ON failed_call_rows.trajectory_id = attempt_of.trajectory_id
INNER JOIN trajectory_ids AS run_of ON failed_call_rows.step_trajectory_id = run_of.trajectory_id
ORDER BY attempt_id, trajectory_id, failed_call_rows.step_index;
