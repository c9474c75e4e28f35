-- Evidence for recovery: every failed call, the source of the failure, and its outcome.
--
-- Source: docs/metrics.md, sections 0.7 and 3.3.
--
-- Reads:
--   calls
--   failed_call_recoveries
-- Needs:
--   failed_call_recoveries
-- Columns:
--   trajectory_id       INTEGER  The attempt; one row for each of its failed calls.
--   step_trajectory_id  INTEGER  The root or sub-agent that made the call.
--   step_index          INTEGER  In that trajectory.
--   span_id             VARCHAR  Of the step.
--   tool_name           VARCHAR  NULL if the trace does not say.
--   failed_by           VARCHAR  status | result | error_pattern.
--   outcome             VARCHAR  recovered | retried (the same call went well later) | lost; NULL
--                                where arguments that were not captured, or calls that were not
--                                recorded decide it.
-- Order:
--   trajectory_id, step_trajectory_id, step_index
SELECT
  calls.attempt_id AS trajectory_id,
  calls.trajectory_id AS step_trajectory_id,
  calls.step_index,
  calls.span_id,
  calls.tool_name,
  calls.failed_by,
  CASE
    WHEN failed_call_recoveries.recovered THEN 'recovered'
    WHEN failed_call_recoveries.retried THEN 'retried'
    WHEN NOT failed_call_recoveries.recovered THEN 'lost'
  END AS outcome
FROM failed_call_recoveries
INNER JOIN calls USING (attempt_id, call_index)
ORDER BY trajectory_id, step_trajectory_id, calls.step_index;
