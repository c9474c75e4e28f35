-- Scores of steps: the decisions of attempts, and their failed calls whose outcome is known.
--
-- They belong to the calls of a span; a span of a model may have several. Source:
-- docs/guides/send.md.
--
-- Reads:
--   decisions
--   failed_calls
--   trajectories
-- Columns:
--   trajectory_id  VARCHAR  The attempt.
--   span_id        VARCHAR  Span of the step, 16 hex digits.
--   metric         VARCHAR  decision_correct | call_recovered; one row for each of the four.
--   trace_id       VARCHAR  Trace of the span.
--   numerator      DOUBLE   Decisions that are correct; failed calls that the run made up for.
--   denominator    DOUBLE   Decisions; failed calls.
--   label          VARCHAR  correct | wrong_tool | wrong_arguments | better_tool_offered, or the
--                           outcome of the failed call; of the first that is not good.
--   called_tool    VARCHAR  Tool of the first that is not good; NULL if none.
--   expected_tool  VARCHAR  Tool that was expected there; NULL if none was.
-- Order:
--   trajectory_id, span_id, metric, trace_id
WITH calls AS (
  SELECT
    trajectory_id,
    step_trajectory_id,
    span_id,
    step_index,
    'decision_correct' AS metric,
    correct AS is_good,
    CASE
      WHEN correct THEN 'correct'
      WHEN list_contains(failed_criteria, 'a') THEN 'wrong_tool'
      WHEN list_contains(failed_criteria, 'b') THEN 'wrong_arguments'
      ELSE 'better_tool_offered'
    END AS label,
    if(correct, NULL, picked_tool) AS called_tool,
    if(correct, NULL, expected_tool) AS expected_tool
  FROM decisions
  WHERE counted AND correct IS NOT NULL

  UNION ALL

  SELECT
    trajectory_id,
    step_trajectory_id,
    span_id,
    step_index,
    'call_recovered' AS metric,
    outcome <> 'lost' AS is_good,
    outcome AS label,
    tool_name AS called_tool,
    NULL AS expected_tool
  FROM failed_calls
  WHERE outcome IS NOT NULL
)

SELECT
  calls.trajectory_id,
  calls.span_id,
  calls.metric,
  steps_trajectory.trace_id,
  count_if(calls.is_good)::DOUBLE AS numerator,
  count(*)::DOUBLE AS denominator,
  arg_min_null(calls.label, (calls.is_good, calls.step_index)) AS label,
  arg_min_null(calls.called_tool, (calls.is_good, calls.step_index)) AS called_tool,
  arg_min_null(calls.expected_tool, (calls.is_good, calls.step_index)) AS expected_tool
FROM calls
INNER JOIN trajectories AS steps_trajectory
  ON calls.step_trajectory_id = steps_trajectory.trajectory_id
WHERE nullif(calls.span_id, '0000000000000000') IS NOT NULL
GROUP BY calls.trajectory_id, calls.span_id, calls.metric, steps_trajectory.trace_id
ORDER BY calls.trajectory_id, calls.span_id, calls.metric, steps_trajectory.trace_id;
