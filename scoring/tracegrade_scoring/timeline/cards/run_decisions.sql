-- The decisions of a run that were wrong or missed, each with the offered tools.
--
-- For a sub-agent's run, the decisions at its own steps.
--
-- Reads:
--   decisions
--   steps
--   trajectories
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $date           DATE     The date of its trace; only this date's files are read.
-- Columns:
--   decision_index   INTEGER    Position among the attempt's decisions.
--   step_index       INTEGER    Step of the call; NULL where none was made.
--   decision         VARCHAR    Its name; NULL if it has none.
--   picked_tool      VARCHAR    NULL where no call was made.
--   expected_tool    VARCHAR    NULL if none is expected, or any with an effect.
--   failed_criteria  VARCHAR[]  a | b | c; empty if none.
--   wrong_arguments  VARCHAR    JSON list of argument, sent, expected; empty if nothing differs.
--   reason           VARCHAR    Why it is wrong; NULL if not known.
--   missed           BOOLEAN    A call was expected and none was made.
--   offered_tools    VARCHAR    JSON list of name, description, parameters; NULL if not known.
--   request_span_id  VARCHAR    Span of the model call; NULL if not known.
-- Order:
--   decision_index
WITH wrong AS (
  SELECT *
  FROM decisions
  WHERE
    date = $date
    AND counted
    AND NOT correct
    AND (
      step_trajectory_id = $trajectory_id OR (missed AND trajectory_id = $trajectory_id)
    )
),

own_steps AS (
  SELECT
    step_index,
    request_span_id
  FROM steps
  WHERE date = $date AND trajectory_id = $trajectory_id
),

own_run AS (
  SELECT offered_tools
  FROM trajectories
  WHERE date = $date AND trajectory_id = $trajectory_id
)

SELECT
  wrong.decision_index,
  wrong.step_index,
  wrong.decision,
  wrong.picked_tool,
  wrong.expected_tool,
  coalesce(wrong.failed_criteria, []) AS failed_criteria,
  to_json(coalesce(wrong.wrong_arguments, []))::VARCHAR AS wrong_arguments,
  wrong.reason,
  coalesce(wrong.missed, FALSE) AS missed,
  own_run.offered_tools,
  own_steps.request_span_id
FROM wrong
LEFT JOIN own_run ON TRUE
LEFT JOIN own_steps USING (step_index)
ORDER BY wrong.decision_index;
