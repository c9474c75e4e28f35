-- What each agent's runs did in each part of a window, without those of sub-agents.
--
-- Reads:
--   run_index
-- Parameters:
--   $since   TIMESTAMP  Start of the window, UTC.
--   $until   TIMESTAMP  End of the window, excluded.
--   $bucket  INTERVAL   Length of a part.
-- Columns:
--   agent_name         VARCHAR  NULL if none is named. One row for each agent and part with runs.
--   place              BIGINT   Number of the part, from 0.
--   runs               BIGINT   At least 1.
--   failed             BIGINT   Failed runs.
--   solved_share       DOUBLE   Successful ones among the runs that count in rates and have a
--                               known outcome, by sample weight; NULL if none is known.
--   failed_call_share  DOUBLE   Calls with an error, or not executed, among the tool calls; NULL
--                               without any.
--   median_ms          DOUBLE   Duration that half of the runs do not exceed; NULL if none is
--                               known.
-- Order:
--   agent_name, place
WITH of_window AS (
  SELECT
    agent_name,
    ((epoch_us(start_time) - epoch_us($since::TIMESTAMP)) // epoch_us($bucket::INTERVAL))::BIGINT
      AS place,
    outcome,
    NOT killed AND NOT superseded AND outcome IS NOT NULL AS is_known,
    sample_weight,
    tool_call_count,
    error_count,
    duration_ms
  FROM run_index
  WHERE
    parent_trajectory_id IS NULL
    AND start_time >= $since::TIMESTAMP
    AND start_time < $until::TIMESTAMP
)

SELECT
  agent_name::VARCHAR AS agent_name,
  place,
  count(*) AS runs,
  count(*) FILTER (WHERE outcome = 'failed') AS failed,
  coalesce(sum(sample_weight) FILTER (WHERE is_known AND outcome = 'succeeded'), 0)
  / sum(sample_weight) FILTER (WHERE is_known) AS solved_share,
  sum(error_count) / nullif(sum(tool_call_count), 0) AS failed_call_share,
  quantile_cont(duration_ms, 0.5) AS median_ms
FROM of_window
GROUP BY ALL
ORDER BY agent_name ASC, place ASC;
