-- Verdicts on whether a call serves a sub-goal, by rank.
--
-- If verdicts of one rank differ, or one of them could not tell, that rank leaves it open. Source:
-- docs/metrics.md, sections 4.2 and 8.3.
--
-- Reads:
--   calls
--   verdicts
-- Needs:
--   verdicts WHERE subject = 'served'
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id, call_index, sub_goal and rank.
--   call_index  INTEGER  The call at the step that the verdict names.
--   sub_goal    VARCHAR  As the verdict names it: a candidate of the call, or not.
--   rank        VARCHAR  verifier | evaluation | judge.
--   serves      BOOLEAN  NULL if that is left open.
--   disagree    BOOLEAN  One of them said yes and another no.
-- Order:
--   none
WITH readings AS (
  SELECT
    trajectory_id,
    step_index,
    sub_goal,
    verdict_rank(source) AS rank,
    verdict_answer(label, value, rank) AS serves
  FROM verdicts
  WHERE subject = 'served'
)

SELECT
  calls.attempt_id,
  calls.call_index,
  readings.sub_goal,
  readings.rank,
  CASE
    WHEN count(readings.serves) = count(*) AND min(readings.serves) = max(readings.serves)
      THEN min(readings.serves)
  END AS serves,
  coalesce(min(readings.serves) <> max(readings.serves), FALSE) AS disagree
FROM readings
INNER JOIN calls USING (trajectory_id, step_index)
GROUP BY calls.attempt_id, calls.call_index, readings.sub_goal, readings.rank;
