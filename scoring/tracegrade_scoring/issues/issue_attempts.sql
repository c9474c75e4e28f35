-- The attempts of each issue that count, as `task_releases` counts them.
--
-- An attempt of a merged issue counts for the one into which it was merged.
--
-- Killed runs, runs of sub-agents and runs that a later run superseded are left out.
--
-- Reads:
--   issue_runs
--   merged_issues
--   superseded_runs
--   trajectories
--   trajectory_scores
-- Columns:
--   issue               VARCHAR    Key of the issue; one row for each issue and trajectory_id.
--   trajectory_id       VARCHAR    The attempt.
--   rank_in_run         INTEGER    Of the reason, as in run_reasons.
--   is_merged           BOOLEAN    Whether the reason is of a merged issue.
--   kind                VARCHAR    Kind of the reason.
--   object              VARCHAR    Object of the reason; NULL if nothing in particular.
--   detail              VARCHAR    Class and template of the error; NULL without one.
--   sentence            VARCHAR    Description of the failure.
--   step_trajectory_id  VARCHAR    Trajectory of the step; NULL without a step.
--   step_index          INTEGER    In that trajectory; NULL without a step.
--   success             BOOLEAN    Whether the attempt succeeded; NULL if unknown.
--   task_id             VARCHAR    NULL if unknown.
--   release             VARCHAR    NULL if not sent.
--   agent_name          VARCHAR    NULL if none is named.
--   run_mode            VARCHAR    NULL if not declared.
--   started             TIMESTAMP  Start of the attempt, UTC; NULL if an import made it up.
--   date                DATE       Date the trace was first received, UTC.
-- Order:
--   issue, trajectory_id
SELECT DISTINCT ON (
  coalesce(merged_issues.merged_into, issue_runs.issue), issue_runs.trajectory_id
)
  coalesce(merged_issues.merged_into, issue_runs.issue) AS issue,
  issue_runs.trajectory_id,
  issue_runs.rank_in_run,
  merged_issues.merged_into IS NOT NULL AS is_merged,
  issue_runs.kind,
  issue_runs.object,
  issue_runs.detail,
  issue_runs.sentence,
  issue_runs.step_trajectory_id,
  issue_runs.step_index,
  issue_runs.success,
  trajectory_scores.task_id,
  trajectory_scores.release,
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  CASE WHEN trajectories.start_time >= '2001-01-01' THEN trajectories.start_time END AS started,
  issue_runs.date
FROM issue_runs
INNER JOIN trajectories ON issue_runs.trajectory_id = trajectories.trajectory_id
INNER JOIN trajectory_scores ON issue_runs.trajectory_id = trajectory_scores.trajectory_id
LEFT JOIN merged_issues ON issue_runs.issue = merged_issues.issue
ANTI JOIN superseded_runs ON issue_runs.trajectory_id = superseded_runs.trajectory_id
WHERE
  trajectories.parent_trajectory_id IS NULL
  AND coalesce(trajectory_scores.success.reason NOT IN ('killed_run', 'several_runs'), TRUE)
ORDER BY
  coalesce(merged_issues.merged_into, issue_runs.issue),
  issue_runs.trajectory_id,
  issue_runs.rank_in_run;
