-- The runs of a window that cost most.
--
-- Reads:
--   run_index
--   run_spending
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
  run_index.trajectory_id,
  run_index.agent_name::VARCHAR AS agent_name,
  run_index.release::VARCHAR AS release,
  run_index.request,
  run_index.step_count,
  run_spending.cost_usd,
  run_spending.input_tokens::DOUBLE AS input_tokens,
  run_spending.output_tokens::DOUBLE AS output_tokens,
  run_index.duration_ms
FROM run_spending
INNER JOIN run_index ON run_spending.seq = run_index.seq
WHERE
  run_spending.cost_usd > 0
  AND (
    $since::TIMESTAMP IS NULL  -- noqa: RF02
    OR (
      run_index.start_time >= $since::TIMESTAMP  -- noqa: RF02
      AND run_index.start_time < $until::TIMESTAMP  -- noqa: RF02
    )
  )
ORDER BY run_spending.cost_usd DESC, run_index.trajectory_id ASC
LIMIT $rows;
