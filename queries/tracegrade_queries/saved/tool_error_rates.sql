-- Failure rate of each tool in each release.
--
-- A call's status decides whether it failed; a result that reports an error sets the status. The
-- scoring package's queries about failed calls also count results that match a task file's
-- error_pattern.
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
--   interrupted   BIGINT   Calls that wait for a person or another system; these are not failures.
--   failed_share  DOUBLE   (errors + not_executed) / calls, in [0, 1].
-- Order:
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
