-- Spans of tool calls in the drafted runs and their sub-agents, and their place on a tape.
--
-- A function under `tracegrade.tool` asks the tape. A framework's decorator around it records the
-- same call again, maybe under another name. Calls that the function itself makes are part of its
-- call.
--
-- Reads:
--   attempt_members
--   drafted_runs
--   known_parents
--   operations
--   steps
--   tool_ends
--   tool_spans
-- Parameters:
--   $ours  VARCHAR  The dialect of `tracegrade.tool`.
-- Columns:
--   attempt_id     VARCHAR    The drafted run.
--   trajectory_id  VARCHAR
--   step_index     INTEGER    The step that the call is.
--   call           BIGINT     The span; one row each.
--   on_tape        VARCHAR    whole: the tape answers it; part: it is inside a whole call;
--                             around: it calls a whole call, of the same tool or with its
--                             arguments, maybe with added defaults; NULL if it runs.
--   tool_name      VARCHAR    From the span, as are the next columns.
--   arguments      VARCHAR
--   result         VARCHAR
--   failed         BOOLEAN
--   error_type     VARCHAR
--   error_message  VARCHAR
--   effect         VARCHAR
--   flags          VARCHAR[]
-- Order:
--   attempt_id, start_ns, span_id
WITH RECURSIVE members AS (
  SELECT
    attempt_members.attempt_id,
    steps.trajectory_id,
    steps.step_index,
    tool_spans.key AS call,
    tool_spans.plain_name,
    tool_spans.match_arguments,
    steps.status IN ('ok', 'error') AS has_ended
  FROM drafted_runs
  INNER JOIN attempt_members ON drafted_runs.trajectory_id = attempt_members.attempt_id
  INNER JOIN steps ON attempt_members.trajectory_id = steps.trajectory_id
  INNER JOIN operations
    ON
      steps.trace_id = operations.trace_id
      AND steps.span_id = operations.span_id
  INNER JOIN (
    SELECT
      tool_spans.*,
      coalesce(tool_ends.last, tool_spans.key) AS execution
    FROM tool_spans
    LEFT JOIN tool_ends USING (key)
  ) AS tool_spans ON operations.key = tool_spans.execution
  WHERE steps.kind = 'tool_call'
),

above AS (
  SELECT
    members.call,
    known_parents.parent
  FROM members
  INNER JOIN known_parents ON members.call = known_parents.key
  WHERE known_parents.parent IS NOT NULL
  UNION
  SELECT
    above.call,
    known_parents.parent
  FROM above
  INNER JOIN known_parents ON above.parent = known_parents.key
  WHERE known_parents.parent IS NOT NULL
),

spans_of_ours AS (
  SELECT key AS call
  FROM operations
  WHERE dialect = $ours
),

functions AS (
  SELECT members.*
  FROM members
  SEMI JOIN spans_of_ours USING (call)
  WHERE members.has_ended AND members.plain_name <> ''
),

inner_calls AS (
  SELECT DISTINCT above.call
  FROM above
  SEMI JOIN functions ON above.parent = functions.call
),

wholes AS (
  SELECT functions.*
  FROM functions
  ANTI JOIN inner_calls USING (call)
),

outer_calls AS (
  SELECT DISTINCT members.call
  FROM wholes
  INNER JOIN above ON wholes.call = above.call
  INNER JOIN members ON above.parent = members.call
  WHERE
    wholes.plain_name = members.plain_name
    OR wholes.match_arguments = members.match_arguments
    OR (
      members.match_arguments <> '{}'
      AND json_contains(wholes.match_arguments, members.match_arguments)
    )
)

SELECT
  members.attempt_id,
  members.trajectory_id,
  members.step_index,
  members.call,
  CASE
    WHEN wholes.call IS NOT NULL THEN 'whole'
    WHEN inner_calls.call IS NOT NULL THEN 'part'
    WHEN outer_calls.call IS NOT NULL THEN 'around'
  END AS on_tape,
  operations.tool_name,
  operations.arguments,
  operations.result,
  operations.failed,
  operations.error_type,
  operations.error_message,
  operations.effect,
  operations.flags
FROM members
INNER JOIN operations ON members.call = operations.key
LEFT JOIN wholes USING (call)
LEFT JOIN inner_calls USING (call)
LEFT JOIN outer_calls USING (call)
ORDER BY members.attempt_id, operations.start_ns, operations.span_id;
