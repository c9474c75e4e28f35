-- Results of an agent's mocked calls in two releases, and of live calls with equal arguments.
--
-- The result is the value that the tool returned, else the text that the model saw. A call that
-- started the run of a sub-agent hands over to it, and is not a tool call. Source:
-- docs/metrics.md, sections 0.7, 0.8 and 10.4.
--
-- Reads:
--   steps
--   trajectories
-- Parameters:
--   $base       VARCHAR  One release.
--   $candidate  VARCHAR  The other.
-- Columns:
--   agent_name  VARCHAR  NULL if none is named. One row for each call.
--   mocked      BOOLEAN  Otherwise it was live or in production.
--   tool_name   VARCHAR  Of the call.
--   arguments   VARCHAR  Canonical JSON, else as sent; NULL if not captured.
--   result      VARCHAR  NULL if not captured.
--   status      VARCHAR  ok | error | not_executed | interrupted | unknown.
--   lacking     BOOLEAN  Arguments or result were not captured, were redacted or cut, or are not
--                        JSON.
-- Order:
--   none
WITH runs AS (
  SELECT
    trajectory_id,
    agent_name,
    run_mode = 'mocked' AS mocked
  FROM trajectories
  WHERE
    release IN ($base, $candidate)
    AND run_mode IN ('mocked', 'live', 'production')
    AND kill_point IS NULL
  QUALIFY bool_or(run_mode = 'mocked') OVER (PARTITION BY agent_name)
),

observed AS (
  SELECT
    trajectory_id,
    call_step AS step_index,
    arg_min(content, step_index) AS content
  FROM steps
  WHERE
    kind = 'observation'
    AND trajectory_id IN (SELECT runs.trajectory_id FROM runs)
  GROUP BY trajectory_id, call_step
),

calls AS (
  SELECT
    runs.agent_name,
    runs.mocked,
    steps.tool_name,
    steps.arguments,
    coalesce(steps.result, observed.content) AS result,
    steps.status,
    steps.flags
  FROM steps
  INNER JOIN runs USING (trajectory_id)
  LEFT JOIN observed USING (trajectory_id, step_index)
  ANTI JOIN trajectories AS children
    ON
      steps.trajectory_id = children.parent_trajectory_id
      AND steps.step_index = children.parent_step
  WHERE steps.kind = 'tool_call'
)

SELECT
  agent_name,
  mocked,
  tool_name,
  arguments,
  result,
  status,
  arguments IS NULL
  OR result IS NULL
  OR list_has_any(
    flags, ['redacted', 'truncated', 'result_redacted', 'result_truncated', 'unparsed_arguments']
  ) AS lacking
FROM calls
QUALIFY mocked OR bool_or(mocked) OVER (PARTITION BY agent_name, tool_name, arguments);
