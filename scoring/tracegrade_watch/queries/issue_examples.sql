-- Newest runs of an agent and run mode that showed one issue.
--
-- Reads:
--   issue_attempts
-- Parameters:
--   $issue       VARCHAR  Key of the issue.
--   $agent_name  VARCHAR  NULL for runs that name none.
--   $run_mode    VARCHAR  NULL for runs that declare none.
--   $rows        BIGINT   Runs at most.
-- Columns:
--   trajectory_id  VARCHAR  One row each.
-- Order:
--   none
SELECT trajectory_id
FROM issue_attempts
WHERE
  issue = $issue::VARCHAR
  AND agent_name IS NOT DISTINCT FROM $agent_name::VARCHAR
  AND run_mode IS NOT DISTINCT FROM $run_mode::VARCHAR
ORDER BY date DESC, started DESC NULLS LAST, trajectory_id DESC
LIMIT $rows::BIGINT;
