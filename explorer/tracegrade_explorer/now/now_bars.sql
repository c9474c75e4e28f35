-- Number of each agent's runs that began in each part of a window, without those of sub-agents.
--
-- Reads:
--   run_index
-- Parameters:
--   $since   TIMESTAMP  Start of the window, UTC.
--   $until   TIMESTAMP  End of the window, excluded.
--   $bucket  INTERVAL   Length of a part.
-- Columns:
--   agent_name  VARCHAR  NULL if none is named. One row for each agent and part with runs.
--   place       BIGINT   Number of the part, from 0.
--   runs        BIGINT   At least 1.
--   failed      BIGINT   Failed runs.
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
