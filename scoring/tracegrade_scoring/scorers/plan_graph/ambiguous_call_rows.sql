-- Evidence for what calls serve: those that rules give to several sub-goals, and who decided.
--
-- Source: docs/metrics.md, section 4.2.
--
-- Reads:
--   ambiguous_calls
--   calls
-- Needs:
--   ambiguous_calls
-- Columns:
--   trajectory_id       INTEGER    The attempt; one row for each of its ambiguous calls.
--   step_trajectory_id  INTEGER    The root or sub-agent that made the call.
--   step_index          INTEGER    In that trajectory.
--   span_id             VARCHAR    Of the step.
--   tool_name           VARCHAR    The tool that was called.
--   candidates          VARCHAR[]  Two or more sub-goals, in the order of the task file.
--   served              VARCHAR[]  Those that are left; at least one, in the same order.
--   decided_by          VARCHAR    rule | verifier | evaluation | judge.
--   verdicts_disagree   BOOLEAN    Verdicts of one rank said yes and no of one sub-goal.
-- Order:
--   trajectory_id, step_trajectory_id, step_index
SELECT
  calls.attempt_id AS trajectory_id,
  calls.trajectory_id AS step_trajectory_id,
  calls.step_index,
  calls.span_id,
  calls.tool_name,
  ambiguous_calls.candidates,
  ambiguous_calls.served,
  ambiguous_calls.decided_by,
  ambiguous_calls.verdicts_disagree
FROM ambiguous_calls
INNER JOIN calls USING (attempt_id, call_index)
ORDER BY trajectory_id, step_trajectory_id, calls.step_index;
