-- Calls that could not go well, and failed calls that the run did not recover from.
--
-- Calls that were not offered, or that the tool's schema refused, count with the first such call.
-- Other calls count with the first call of each tool. Source: docs/metrics.md, section 9.6.
--
-- Reads:
--   call_totals
--   call_validity
--   calls
--   failed_call_recoveries
--   task_tools
-- Needs:
--   calls
-- Columns:
--   attempt_id          INTEGER  The root trajectory.
--   precedence          INTEGER  Precedence of the kind, from the first.
--   kind                VARCHAR  not_offered | bad_arguments | denied | lost_call.
--   object              VARCHAR  The tool.
--   sentence            VARCHAR  What happened.
--   step_trajectory_id  INTEGER  The root or sub-agent that made the call.
--   step_index          INTEGER  Step of the call in that trajectory.
--   span_id             VARCHAR  Span of the call.
--   only_reads          BOOLEAN  The tool is known to change nothing.
--   position            INTEGER  Index of the call.
--   source              VARCHAR  static.
-- Order:
--   none
WITH registry AS (
  SELECT count(*) > 0 AS known
  FROM task_tools
),

firsts AS (
  SELECT
    attempt_id,
    min(first_unoffered) AS first_unoffered,
    min(first_invalid) AS first_invalid
  FROM call_totals
  GROUP BY attempt_id
  HAVING first_unoffered IS NOT NULL OR first_invalid IS NOT NULL
),

failed AS (
  SELECT
    calls.attempt_id,
    calls.tool_name,
    calls.status = 'not_executed'
    AND coalesce(calls.offered, task_tools.tool_name IS NOT NULL OR NOT registry.known)
      AS is_denied,
    min(calls.call_index) AS call_index
  FROM failed_call_recoveries
  INNER JOIN calls USING (attempt_id, call_index)
  CROSS JOIN registry
  LEFT JOIN task_tools ON calls.tool_name = task_tools.tool_name
  WHERE NOT failed_call_recoveries.recovered AND NOT failed_call_recoveries.retried
  GROUP BY ALL
),

reasons AS (
  SELECT
    attempt_id,
    first_unoffered AS call_index,
    5 AS precedence,
    'not_offered' AS kind
  FROM firsts
  UNION ALL
  SELECT
    attempt_id,
    first_invalid AS call_index,
    7 AS precedence,
    'bad_arguments' AS kind
  FROM firsts
  UNION ALL
  SELECT
    attempt_id,
    call_index,
    if(is_denied, 8, 13) AS precedence,
    if(is_denied, 'denied', 'lost_call') AS kind
  FROM failed
),

named AS (
  SELECT
    reasons.*,
    calls.trajectory_id,
    calls.step_index,
    calls.span_id,
    calls.effect,
    calls.result,
    calls.tool_name,
    coalesce(calls.tool_name, 'an unnamed tool') AS tool
  FROM reasons
  INNER JOIN calls USING (attempt_id, call_index)
)

SELECT
  named.attempt_id,
  named.precedence,
  named.kind,
  named.tool_name AS object,
  CASE named.kind
    WHEN 'not_offered' THEN concat('called ', clipped(named.tool, 60), ', which was not offered')
    WHEN 'bad_arguments'
      THEN concat(
        'called ', clipped(named.tool, 40), ' with arguments that its schema refuses: ',
        coalesce(validity.message, 'they cannot be read')
      )
    WHEN 'denied'
      THEN concat_ws(
        ': ', concat('the call of ', clipped(named.tool, 40), ' was not executed'),
        error_line(named.result)
      )
    ELSE
      concat_ws(
        ': ', concat(clipped(named.tool, 40), ' failed, and the run did not recover'),
        error_line(named.result)
      )
  END AS sentence,
  named.trajectory_id AS step_trajectory_id,
  named.step_index,
  named.span_id,
  coalesce(named.effect = 'read', FALSE) AS only_reads,
  named.call_index AS position,
  'static' AS source
FROM named
LEFT JOIN call_validity AS validity USING (attempt_id, call_index);
