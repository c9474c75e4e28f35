-- Every tool call of an attempt, in order, and whether it failed.
--
-- Plan, hand-off and answer tools are other kinds of steps, so they are not among these.
-- Source: docs/metrics.md, sections 0.3, 0.5, 0.7, 0.8 and 0.9.
--
-- Reads:
--   attempt_order
--   observed_results
--   pattern_matches
--   steps
--   task_tools
-- Columns:
--   attempt_id       INTEGER    The root trajectory.
--   call_index       INTEGER    Dense from 0; one row for each attempt_id and call_index.
--   trajectory_id    INTEGER    The trajectory that made the call: the root or a sub-agent.
--   step_index       INTEGER    Of the call in that trajectory.
--   own_index        INTEGER    Dense from 0 in that trajectory.
--   turn             INTEGER    Of that trajectory, from 0; NULL if not known.
--   tool_name        VARCHAR    NULL if the trace does not say.
--   arguments        VARCHAR    Canonical JSON; raw text if it is not JSON; {} of a tool that
--                               takes none by the registry; else NULL if not captured.
--   parsed           BOOLEAN    Arguments were captured and are JSON, not nested too deeply.
--   result           VARCHAR    What the tool returned, else what the model saw; NULL if neither.
--   error            VARCHAR    Message of the error of a call that failed, else its class; NULL
--                               if there is neither.
--   status           VARCHAR    ok | error | not_executed | interrupted | unknown.
--   failed           BOOLEAN    Never NULL.
--   failed_by        VARCHAR    status | result | error_pattern; NULL if it did not fail.
--   effect           VARCHAR    read | write | destructive; the registry's, else the span's.
--   cost             DOUBLE     The registry's, else the span's; NULL if neither says.
--   offered          BOOLEAN    Offered to the model call or the run; NULL if unknown.
--   may_change       BOOLEAN    It is not a read, and its tool is not made up. A tool is made up
--                               if it was not offered (or is unknown, where tools are known), and
--                               the call failed. Never NULL.
--   sub_goal         VARCHAR    Named on the span; NULL if none.
--   decision         VARCHAR    Named on the span; NULL if none.
--   span_id          VARCHAR    Executing span, else the requesting one.
--   start_time       TIMESTAMP  UTC.
--   content_missing  BOOLEAN    Arguments not captured, redacted or truncated; equal to nothing.
--   result_missing   BOOLEAN    The same for the result.
-- Order:
--   attempt_id, call_index
WITH registry AS (
  SELECT count(*) > 0 AS known
  FROM task_tools
),

made AS (
  SELECT
    attempt_order.attempt_id,
    attempt_order.calls_before AS call_index,
    attempt_order.own_before AS own_index,
    steps.* REPLACE (
      coalesce(steps.arguments, if(takes_nothing(task_tools.schema::JSON), '{}', NULL))
        AS arguments
    ),
    coalesce(steps.result, observed_results.content) AS returned,
    task_tools.effect AS known_effect,
    task_tools.cost AS known_cost,
    NOT coalesce(
      steps.offered,
      steps.tool_name IS NULL OR task_tools.tool_name IS NOT NULL OR NOT registry.known
    ) AS not_offered,
    pattern_matches.fits AS fits_errors
  FROM attempt_order
  INNER JOIN steps USING (trajectory_id, step_index)
  LEFT JOIN observed_results USING (trajectory_id, step_index)
  LEFT JOIN pattern_matches USING (trajectory_id, step_index)
  LEFT JOIN task_tools USING (tool_name)
  CROSS JOIN registry
  WHERE
    attempt_order.kind = 'tool_call'
    AND steps.kind = 'tool_call'
),

judged AS (
  SELECT
    *,
    CASE
      WHEN status = 'interrupted' THEN NULL
      WHEN status IN ('error', 'not_executed') THEN 'status'
      WHEN result_is_error(returned) THEN 'result'
      WHEN fits_errors THEN 'error_pattern'
    END AS failed_by
  FROM made
)

SELECT
  attempt_id,
  call_index,
  trajectory_id,
  step_index,
  own_index,
  turn,
  tool_name,
  arguments,
  coalesce(json_valid(arguments) AND NOT list_contains(flags, 'unparsed_arguments'), FALSE)
    AS parsed,
  returned AS result,
  if(failed_by IS NULL, NULL, coalesce(error_message, error_type)) AS error,
  status,
  failed_by IS NOT NULL AS failed,
  failed_by,
  coalesce(known_effect, effect) AS effect,
  coalesce(known_cost, cost) AS cost,
  offered,
  coalesce(coalesce(known_effect, effect) <> 'read', TRUE)
  AND NOT (not_offered AND failed_by IS NOT NULL) AS may_change,
  sub_goal,
  decision,
  span_id,
  start_time,
  arguments IS NULL OR coalesce(list_has_any(flags, ['redacted', 'truncated']), FALSE)
    AS content_missing,
  returned IS NULL
  OR coalesce(list_has_any(flags, ['result_redacted', 'result_truncated']), FALSE)
    AS result_missing
FROM judged
ORDER BY attempt_id, call_index;
