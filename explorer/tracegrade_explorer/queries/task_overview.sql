-- The tasks of each agent: number of runs, and outcomes.
--
-- Some runs do not count and are left out: killed runs, runs of sub-agents, and runs that a later
-- run of the same trial replaced.
--
-- Reads:
--   run_index
--   trajectory_scores
-- Columns:
--   task_id        VARCHAR    One row for each; runs without a known task are left out.
--   task_category  VARCHAR    Category of one of its runs; NULL if unknown.
--   agents         VARCHAR[]  Agents that ran it, sorted; without those that have no name.
--   runs           BIGINT     At least 1; those that do not count are left out.
--   succeeded      BIGINT     Successful runs.
--   failed         BIGINT     Failed runs; for the rest, the outcome is not known.
--   findings       BIGINT     Runs with findings.
--   tsa            DOUBLE     Correct first picks / counted decision points; NULL without any.
--   last_start     TIMESTAMP  UTC; NULL if no start is known.
-- Order:
--   failed DESC, task_id
SELECT
  run_index.task_id::VARCHAR AS task_id,
  min(run_index.task_category::VARCHAR) AS task_category,
  coalesce(
    list(DISTINCT run_index.agent_name::VARCHAR ORDER BY run_index.agent_name::VARCHAR) FILTER (
      WHERE run_index.agent_name IS NOT NULL
    ),
    []
  ) AS agents,
  count(*) AS runs,
  count(*) FILTER (WHERE run_index.outcome = 'succeeded') AS succeeded,
  count(*) FILTER (WHERE run_index.outcome = 'failed') AS failed,
  count(*) FILTER (WHERE run_index.finding_count > 0) AS findings,
  sum(trajectory_scores.tsa.numerator) / nullif(sum(trajectory_scores.tsa.denominator), 0) AS tsa,
  max(run_index.start_time) AS last_start
FROM run_index
LEFT JOIN trajectory_scores ON run_index.trajectory_id = trajectory_scores.trajectory_id
WHERE
  run_index.task_id IS NOT NULL
  AND run_index.parent_trajectory_id IS NULL
  AND NOT run_index.killed
  AND NOT run_index.superseded
GROUP BY run_index.task_id
ORDER BY failed DESC, task_id ASC;
