-- The expectations of an attempt's own turns, if other runs have other turns of its conversation.
--
-- An expectation without a turn belongs to turn 0. Source: docs/metrics.md, section 2.1.
--
-- Reads:
--   attempts
--   first_turns
--   task_expected
-- Needs:
--   first_turns
--   task_expected WHERE turn IS NOT NULL
-- Columns:
--   attempt_id  INTEGER    One row each, of attempts at tasks that give a turn.
--   first_turn  BIGINT     Turns of the conversation before the attempt.
--   end_turn    BIGINT     The first turn after it; NULL of the last run.
--   positions   INTEGER[]  The expectations, from 0 in the task file, in order; empty if none is.
-- Order:
--   none
SELECT
  attempts.attempt_id,
  first_turns.first_turn,
  first_turns.end_turn,
  coalesce(
    list_sort(
      list(task_expected.position) FILTER (
        WHERE coalesce(task_expected.turn, 0) >= first_turns.first_turn
        AND coalesce(coalesce(task_expected.turn, 0) < first_turns.end_turn, TRUE)
      )
    ),
    []
  ) AS positions
FROM first_turns
INNER JOIN attempts ON first_turns.trajectory_id = attempts.attempt_id
INNER JOIN task_expected USING (task_id)
GROUP BY attempts.attempt_id, first_turns.first_turn, first_turns.end_turn
HAVING count(task_expected.turn) > 0;
