-- How many runs of each agent began in each part of a window, those of sub-agents left out.
--
-- Reads:
--   run_index
-- Parameters:
--   $since   TIMESTAMP  When the window begins, UTC.
--   $until   TIMESTAMP  When it ends, itself excluded.
--   $bucket  INTERVAL   How long a part is.
-- Columns:
--   agent_name  VARCHAR  NULL if none is named. One row for each agent and part with runs.
--   place       BIGINT   Of the part, from 0.
--   runs        BIGINT   At least 1.
--   failed      BIGINT   Of these, failed.
-- Order:
--   agent_name, place
SELECT
  agent_name::VARCHAR AS agent_name,
  ((epoch_us(start_time) - epoch_us($since::TIMESTAMP)) // epoch_us($bucket::INTERVAL))::BIGINT
    AS place,
  count(*) AS runs,
  count(*) FILTER (WHERE outcome = 'failed') AS failed
FROM run_index
WHERE
  parent_trajectory_id IS NULL
  AND start_time >= $since::TIMESTAMP
  AND start_time < $until::TIMESTAMP
GROUP BY ALL
ORDER BY agent_name ASC, place ASC;
