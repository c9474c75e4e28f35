-- The runs of a window that cost most.
--
-- Reads:
--   run_index
-- Parameters:
--   $rows   INTEGER    Rows at most.
--   $since  TIMESTAMP  When the window begins; NULL: it has the runs of any time.
--   $until  TIMESTAMP  When it ends, itself excluded; NULL as $since.
-- Columns:
--   trajectory_id  VARCHAR  One row each.
--   agent_name     VARCHAR  NULL if none is named.
--   release        VARCHAR  NULL if not sent.
--   request        VARCHAR  First 200 characters of what the user asked; NULL if unknown.
--   step_count     INTEGER  Its own steps.
--   cost_usd       DOUBLE   Above 0, its sub-agents included.
--   input_tokens   DOUBLE   NULL if none were recorded.
--   output_tokens  DOUBLE   As input_tokens.
--   duration_ms    DOUBLE   NULL if the end is not known.
-- Order:
--   cost_usd DESC, trajectory_id
SELECT
  trajectory_id,
  agent_name::VARCHAR AS agent_name,
  release::VARCHAR AS release,
  request,
  step_count,
  cost_usd,
  input_tokens::DOUBLE AS input_tokens,
  output_tokens::DOUBLE AS output_tokens,
  duration_ms
FROM run_index
WHERE
  parent_trajectory_id IS NULL
  AND cost_usd > 0
  AND (
    $since::TIMESTAMP IS NULL
    OR (
      start_time >= $since::TIMESTAMP
      AND start_time < $until::TIMESTAMP
    )
  )
ORDER BY cost_usd DESC, trajectory_id ASC
LIMIT $rows;
