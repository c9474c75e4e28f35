-- First reasons of the failed runs of each release, with the number of runs.
--
-- Reads:
--   run_index
-- Columns:
--   agent_name  VARCHAR  NULL if none is named. One row for each of the three and reason.
--   run_mode    VARCHAR  NULL if not declared.
--   release     VARCHAR  NULL if not sent.
--   reason      VARCHAR  Kind of the reason, then ': ' and what it is about, if anything.
--   runs        BIGINT   Failed runs that count in rates with it as their first; at least 1.
-- Order:
--   agent_name, run_mode, release, runs DESC, reason
SELECT
  agent_name::VARCHAR AS agent_name,
  run_mode::VARCHAR AS run_mode,
  release::VARCHAR AS release,
  reason,
  count(*) AS runs
FROM run_index
WHERE
  parent_trajectory_id IS NULL
  AND NOT killed
  AND NOT superseded
  AND outcome = 'failed'
  AND reason IS NOT NULL
GROUP BY ALL
ORDER BY
  agent_name ASC, run_mode ASC, release ASC, runs DESC, reason ASC;
