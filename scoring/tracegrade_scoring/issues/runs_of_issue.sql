-- The newest runs that showed one issue.
--
-- Reads:
--   issue_attempts
-- Parameters:
--   $issue  VARCHAR  Key of the issue.
--   $rows   BIGINT   The most rows.
-- Columns:
--   trajectory_id       VARCHAR    The run.
--   run_mode            VARCHAR    NULL if not declared.
--   release             VARCHAR    NULL if not sent.
--   task_id             VARCHAR    NULL if unknown.
--   success             BOOLEAN    Whether the run succeeded; NULL if unknown.
--   date                DATE       Date the trace was first received, UTC.
--   started             TIMESTAMP  Start of the run, UTC; NULL if an import made it up.
--   sentence            VARCHAR    Description of the failure.
--   step_trajectory_id  VARCHAR    Trajectory of the step; NULL without a step.
--   step_index          INTEGER    In that trajectory; NULL without a step.
-- Order:
--   date DESC, started DESC NULLS LAST, trajectory_id DESC
SELECT
  trajectory_id,
  run_mode,
  release,
  task_id,
  success,
  date,
  started,
  sentence,
  step_trajectory_id,
  step_index
FROM issue_attempts
WHERE issue = $issue
ORDER BY date DESC, started DESC NULLS LAST, trajectory_id DESC
LIMIT $rows;
