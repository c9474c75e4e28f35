-- The releases of each agent and run mode: number of runs, dates, and outcomes.
--
-- Some runs do not count and are left out: killed runs, runs of sub-agents, and runs that a later
-- run of the same trial replaced.
--
-- Reads:
--   counted_release_scores
--   run_index
-- Columns:
--   agent_name   VARCHAR    NULL if none is named. One row for each agent_name, run_mode, release.
--   run_mode     VARCHAR    NULL if not declared.
--   release      VARCHAR    NULL if not sent.
--   runs         BIGINT     At least 1.
--   failed       BIGINT     Failed runs.
--   findings     BIGINT     Runs with findings.
--   first_start  TIMESTAMP  UTC; NULL if no start is known.
--   last_start   TIMESTAMP  Likewise.
--   success      DOUBLE     Share that succeeded, by sample weight; NULL if not known.
--   low          DOUBLE     Lower end of its 95 % interval; NULL without one.
--   high         DOUBLE     Upper end.
--   tsa          DOUBLE     Tool-selection accuracy, by sample weight; NULL if not measured.
-- Order:
--   agent_name, run_mode, first_start DESC NULLS LAST, release DESC
WITH counted AS (
  SELECT
    agent_name::VARCHAR AS agent_name,
    run_mode::VARCHAR AS run_mode,
    release::VARCHAR AS release,
    count(*) AS runs,
    count(*) FILTER (WHERE outcome = 'failed') AS failed,
    count(*) FILTER (WHERE finding_count > 0) AS findings,
    min(start_time) AS first_start,
    max(start_time) AS last_start
  FROM run_index
  WHERE parent_trajectory_id IS NULL AND NOT killed AND NOT superseded
  GROUP BY ALL
),

rates AS (
  SELECT
    agent_name,
    run_mode,
    release,
    max(value) FILTER (WHERE metric = 'success') AS success,
    max(low) FILTER (WHERE metric = 'success') AS low,
    max(high) FILTER (WHERE metric = 'success') AS high,
    max(value) FILTER (WHERE metric = 'tsa') AS tsa
  FROM counted_release_scores
  WHERE task_category = ''
  GROUP BY agent_name, run_mode, release
)

SELECT
  counted.agent_name,
  counted.run_mode,
  counted.release,
  counted.runs,
  counted.failed,
  counted.findings,
  counted.first_start,
  counted.last_start,
  rates.success,
  rates.low,
  rates.high,
  rates.tsa
FROM counted
LEFT JOIN rates
  ON
    counted.agent_name IS NOT DISTINCT FROM rates.agent_name
    AND counted.run_mode IS NOT DISTINCT FROM rates.run_mode
    AND counted.release IS NOT DISTINCT FROM rates.release
ORDER BY
  counted.agent_name ASC,
  counted.run_mode ASC,
  counted.first_start DESC NULLS LAST,
  counted.release DESC;
