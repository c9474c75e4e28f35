-- Which tools failed, how often, and with what error?
--
-- Reads:
--   steps
--   trajectories
-- Columns:
--   release     VARCHAR  One row for each release and tool that failed at least once.
--   tool_name   VARCHAR
--   calls       BIGINT   All calls of the tool in that release; at least 1.
--   failed      BIGINT   Those that ended in an error or were never executed; at least 1.
--   last_error  VARCHAR  The error of the last one; NULL if it left none.
-- Order:
--   release, failed (most first), tool_name
SELECT
  trajectories.release,
  steps.tool_name,
  count(*) AS calls,
  count(*) FILTER (WHERE steps.status IN ('error', 'not_executed')) AS failed,
  max_by(steps.error_message, steps.start_time) AS last_error
FROM steps
INNER JOIN trajectories ON steps.trajectory_id = trajectories.trajectory_id
WHERE steps.kind = 'tool_call'
GROUP BY trajectories.release, steps.tool_name
HAVING failed > 0
ORDER BY trajectories.release ASC, failed DESC, steps.tool_name ASC;
