-- Calls that one trajectory made again and again with the same arguments.
--
-- Reads:
--   steps
-- Parameters:
--   $times  INTEGER  Fewest equal calls to report.
-- Columns:
--   trajectory_id  VARCHAR    One row for each trajectory_id, tool_name and arguments.
--   tool_name      VARCHAR
--   arguments      VARCHAR    Canonical JSON; calls without captured arguments do not count.
--   calls          BIGINT     At least $times.
--   results        BIGINT     Distinct results that were captured.
--   step_indices   INTEGER[]  step_index of each of these calls.
-- Order:
--   calls DESC, trajectory_id, tool_name, arguments
SELECT
  trajectory_id,
  tool_name,
  arguments,
  count(*) AS calls,
  count(DISTINCT result) AS results,
  list(step_index ORDER BY step_index) AS step_indices
FROM steps
WHERE kind = 'tool_call' AND arguments IS NOT NULL
GROUP BY trajectory_id, tool_name, arguments
HAVING count(*) >= $times::INTEGER
ORDER BY calls DESC, trajectory_id ASC, tool_name ASC, arguments ASC;
