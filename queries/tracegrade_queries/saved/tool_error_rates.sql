-- How often each tool fails in each release.
--
-- A call failed by its status, which results that say so set, too; what the error_pattern of
-- a task file finds besides is counted by the queries about failed calls that scoring brings.
--
-- Reads:
--   steps
--   trajectories
-- Columns:
--   tool_name     VARCHAR  One row for each tool_name and release.
--   release       VARCHAR  NULL if the spans name none.
--   calls         BIGINT   At least 1.
--   errors        BIGINT   Calls that were executed and failed.
--   not_executed  BIGINT   Calls that were requested and never executed.
--   interrupted   BIGINT   Calls that wait for somebody, which is no failure.
--   failed_share  DOUBLE   (errors + not_executed) / calls, in [0, 1].
-- Order:
--   interrupted   BIGINT   Calls that wait for somebody, which is no failure.
--   failed_share DESC, calls DESC, tool_name, release
SELECT
  steps.tool_name,
  trajectories.release,
  count(*) AS calls,
  count(*) FILTER (WHERE steps.status = 'error') AS errors,
  count(*) FILTER (WHERE steps.status = 'not_executed') AS not_executed,
  count(*) FILTER (WHERE steps.status = 'interrupted') AS interrupted,
  (errors + not_executed) / calls AS failed_share
FROM steps
INNER JOIN trajectories USING (trajectory_id)
WHERE steps.kind = 'tool_call'
GROUP BY steps.tool_name, trajectories.release
ORDER BY failed_share DESC, calls DESC, steps.tool_name ASC, trajectories.release ASC;
