-- How many runs of each release showed an issue, of the runs of the tasks that ever showed it.
--
-- Releases that ran none of these tasks have no row. Source: docs/metrics.md, section 10.5.
--
-- Reads:
--   issue_attempts
--   task_releases
-- Columns:
--   issue     VARCHAR  One row for each issue, run_mode and release.
--   run_mode  VARCHAR  NULL if not declared.
--   position  BIGINT   Place of the release among those of the agent and run mode, from 1.
--   release   VARCHAR  NULL if not sent.
--   hits      BIGINT   Runs that showed the issue.
--   runs      BIGINT   Runs of the tasks that showed it in any release.
-- Order:
--   issue, run_mode, position
WITH tasks_of_issues AS (
  SELECT DISTINCT
    issue,
    agent_name,
    run_mode,
    task_id
  FROM issue_attempts
),

exposures AS (
  SELECT
    tasks_of_issues.issue,
    tasks_of_issues.run_mode,
    task_releases.position,
    task_releases.release,
    sum(task_releases.runs)::BIGINT AS runs
  FROM tasks_of_issues
  INNER JOIN task_releases
    ON
      tasks_of_issues.task_id IS NOT DISTINCT FROM task_releases.task_id
      AND tasks_of_issues.agent_name IS NOT DISTINCT FROM task_releases.agent_name
      AND tasks_of_issues.run_mode IS NOT DISTINCT FROM task_releases.run_mode
  GROUP BY ALL
),

hits AS (
  SELECT
    issue,
    run_mode,
    release,
    count(*) AS hits
  FROM issue_attempts
  GROUP BY issue, run_mode, release
)

SELECT
  exposures.issue,
  exposures.run_mode,
  exposures.position,
  exposures.release,
  coalesce(hits.hits, 0) AS hits,
  exposures.runs
FROM exposures
LEFT JOIN hits
  ON
    exposures.issue = hits.issue
    AND exposures.run_mode IS NOT DISTINCT FROM hits.run_mode
    AND exposures.release IS NOT DISTINCT FROM hits.release
ORDER BY exposures.issue, exposures.run_mode, exposures.position;
