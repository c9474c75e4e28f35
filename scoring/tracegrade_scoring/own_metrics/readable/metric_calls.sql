-- Every tool call of an attempt, in order, as metrics of users' own read them: `calls`.
--
-- Reads:
--   calls
--   trajectory_ids
-- As:
--   view
-- Columns:
--   attempt_id       VARCHAR    The root trajectory.
--   call_index       INTEGER    Dense from 0; one row for each attempt_id and call_index.
--   trajectory_id    VARCHAR    The trajectory that made the call: the root or a sub-agent.
--   step_index       INTEGER    Of the call in that trajectory.
--   turn             INTEGER    Of that trajectory, from 0; NULL if not known.
--   tool_name        VARCHAR    NULL if the trace does not say.
--   arguments        VARCHAR    Canonical JSON; raw text if it is not JSON; NULL if not captured.
--   result           VARCHAR    What the tool returned, else what the model saw; NULL if neither.
--   error            VARCHAR    Message or class of the error of a call that failed; NULL if there
--                               is neither.
--   status           VARCHAR    ok | error | not_executed | interrupted | unknown.
--   failed           BOOLEAN    Never NULL.
--   failed_by        VARCHAR    status | result | error_pattern; NULL if it did not fail.
--   effect           VARCHAR    read | write | destructive; NULL if unknown.
--   cost             DOUBLE     As declared; NULL if it is not.
--   offered          BOOLEAN    Offered to the model call or the run; NULL if unknown.
--   may_change       BOOLEAN    It may have changed something. Never NULL.
--   sub_goal         VARCHAR    Named on the span; NULL if none.
--   decision         VARCHAR    Named on the span; NULL if none.
--   start_time       TIMESTAMP  UTC.
--   content_missing  BOOLEAN    Arguments not captured, redacted or truncated; equal to nothing.
--   result_missing   BOOLEAN    The same for the result.
-- Order:
--   attempt_id, call_index
SELECT
  attempt_of.id AS attempt_id,
  calls.call_index,
  run_of.id AS trajectory_id,
  calls.step_index,
  calls.turn,
  calls.tool_name,
  calls.arguments,
  calls.result,
  calls.error,
  calls.status,
  calls.failed,
  calls.failed_by,
  calls.effect,
  calls.cost,
  calls.offered,
  calls.may_change,
  calls.sub_goal,
  calls.decision,
  calls.start_time,
  calls.content_missing,
  calls.result_missing
FROM calls
INNER JOIN trajectory_ids AS attempt_of ON calls.attempt_id = attempt_of.trajectory_id
INNER JOIN trajectory_ids AS run_of ON calls.trajectory_id = run_of.trajectory_id
ORDER BY attempt_id, calls.call_index;
