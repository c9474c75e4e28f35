-- The decision points of each attempt, as metrics of users' own read them: `decisions`.
--
-- Reads:
--   decision_rows
--   trajectory_ids
-- As:
--   view
-- Columns:
--   attempt_id       VARCHAR    The attempt.
--   decision_index   INTEGER    Dense from 0; one row for each attempt_id and decision_index.
--   decision         VARCHAR    The task's name for it, else the span's; NULL without either.
--   picked_tool      VARCHAR    NULL where no call was made.
--   expected_tool    VARCHAR    NULL if none is expected there, or any of an effect.
--   correct          BOOLEAN    NULL if not counted, or if it cannot be known.
--   criteria         VARCHAR[]  Those of a (tool), b (arguments) and c (a better one was offered)
--                               that applied.
--   failed_criteria  VARCHAR[]  Those that failed; empty if none did.
--   trajectory_id    VARCHAR    Root or sub-agent that made the first call; NULL where none was.
--   step_index       INTEGER    Of the first call in that trajectory; NULL where none was made.
--   reason           VARCHAR    Why it is wrong, unknown or not counted; NULL if correct.
--   missed           BOOLEAN    Expected, but no call was made for it.
--   counted          BOOLEAN    It is in the denominator of tsa.
--   call_count       INTEGER    Calls of the point; 0 where none was made.
--   unknown_because  VARCHAR    content_missing | input_unbound, where correct cannot be known.
-- Order:
--   attempt_id, decision_index
SELECT
  attempt_of.id AS attempt_id,
  decision_rows.decision_index,
  decision_rows.decision,
  decision_rows.picked_tool,
  decision_rows.expected_tool,
  decision_rows.correct,
  decision_rows.criteria,
  decision_rows.failed_criteria,
  run_of.id AS trajectory_id,
  decision_rows.step_index,
  decision_rows.reason,
  decision_rows.missed,
  decision_rows.counted,
  decision_rows.calls AS call_count,
  decision_rows.unknown_because
FROM decision_rows
INNER JOIN trajectory_ids AS attempt_of ON decision_rows.trajectory_id = attempt_of.trajectory_id
LEFT JOIN trajectory_ids AS run_of ON decision_rows.step_trajectory_id = run_of.trajectory_id
ORDER BY attempt_id, decision_rows.decision_index;
