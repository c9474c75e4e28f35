-- The first failed call of each trajectory, and the number of calls before it.
--
-- A call's status decides whether it failed; a result that reports an error sets the status. The
-- scoring package's queries about failed calls also count results that match a task file's
-- error_pattern.
--
-- Reads:
--   steps
--   trajectories
-- Columns:
--   trajectory_id  VARCHAR  One row for each trajectory with a failed call.
--   release        VARCHAR  NULL if the spans name none.
--   task_id        VARCHAR  NULL if no span names one.
--   step_index     INTEGER  step_index of the failed call.
--   calls_before   BIGINT   Tool calls before it.
--   tool_name      VARCHAR
--   status         VARCHAR  error | not_executed.
--   error          VARCHAR  Its message, else the first 200 characters of its result; or NULL.
--   arguments      VARCHAR  Canonical JSON; NULL if not captured.
-- Order:
--   trajectory_id
WITH calls AS (
  SELECT
    *,
    row_number() OVER trajectory_calls - 1 AS calls_before
  FROM steps
  WHERE kind = 'tool_call'
  WINDOW trajectory_calls AS (PARTITION BY trajectory_id ORDER BY step_index)
)

SELECT
  trajectories.trajectory_id,
  trajectories.release,
  trajectories.task_id,
  calls.step_index,
  calls.calls_before,
  calls.tool_name,
  calls.status,
  coalesce(calls.error_message, left(calls.result, 200)) AS error,
  calls.arguments
FROM calls
INNER JOIN trajectories USING (trajectory_id)
WHERE calls.status IN ('error', 'not_executed')
QUALIFY row_number() OVER (PARTITION BY calls.trajectory_id ORDER BY calls.step_index) = 1
ORDER BY trajectories.trajectory_id;
