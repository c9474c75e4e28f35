-- The tasks of each agent: how many runs, and how they ended.
--
-- Runs that do not count are left out: those killed on purpose or replaced by a later run of the
-- same trial, and those of sub-agents.
--
-- Reads:
--   run_index
-- Columns:
--   task_id        VARCHAR    One row for each; runs without a known task are left out.
--   task_category  VARCHAR    That of one of its runs; NULL if unknown.
--   agents         VARCHAR[]  Who ran it, sorted; without those that have no name.
--   runs           BIGINT     At least 1; those that do not count are left out.
--   succeeded      BIGINT     Of these.
--   failed         BIGINT     Of these; of the rest it is not known.
--   findings       BIGINT     Those in which something was found.
--   tsa            DOUBLE     Mean over runs, each counted once; NULL if not measured.
--   last_start     TIMESTAMP  UTC; NULL if no start is known.
-- Order:
--   failed DESC, task_id
SELECT
  task_id::VARCHAR AS task_id,
  min(task_category::VARCHAR) AS task_category,
  coalesce(
    list(DISTINCT agent_name::VARCHAR ORDER BY agent_name::VARCHAR) FILTER (
      WHERE agent_name IS NOT NULL
    ),
    []
  ) AS agents,
  count(*) AS runs,
  count(*) FILTER (WHERE outcome = 'succeeded') AS succeeded,
  count(*) FILTER (WHERE outcome = 'failed') AS failed,
  count(*) FILTER (WHERE finding_count > 0) AS findings,
  avg(tsa) AS tsa,
  max(start_time) AS last_start
FROM run_index
WHERE task_id IS NOT NULL AND parent_trajectory_id IS NULL AND NOT killed AND NOT superseded
GROUP BY task_id
ORDER BY failed DESC, task_id ASC;
