-- The sub-goals of its task that each call serves, or may serve.
--
-- If rules give a call to several sub-goals, verdicts may leave fewer. Source: docs/metrics.md,
-- section 4.2.
--
-- Reads:
--   ambiguous_calls
--   sub_goal_candidates
-- Needs:
--   sub_goal_candidates
-- Columns:
--   attempt_id   INTEGER  One row for each attempt_id, call_index and sub_goal.
--   call_index   INTEGER  The call, from 0.
--   sub_goal     VARCHAR  The sub-goal of the attempt's task; also an uncounted one.
--   position     INTEGER  Its position in the task file, from 0.
--   attribution  VARCHAR  span (named on the span) | rule | verdict (that left one of several).
--   certain      BOOLEAN  False where a rule needs arguments that were not captured.
--   failed       BOOLEAN  The call failed, or waits for a person.
-- Order:
--   none
WITH judged AS (
  SELECT
    attempt_id,
    call_index,
    served,
    len(served) = 1 AS decided
  FROM ambiguous_calls
  WHERE decided_by <> 'rule'
)

SELECT
  candidates.attempt_id,
  candidates.call_index,
  candidates.sub_goal,
  candidates.position,
  if(judged.decided, 'verdict', candidates.attribution) AS attribution,
  candidates.certain OR coalesce(judged.decided, FALSE) AS certain,
  candidates.failed
FROM sub_goal_candidates AS candidates
LEFT JOIN judged USING (attempt_id, call_index)
WHERE
  judged.attempt_id IS NULL
  OR list_contains(judged.served, candidates.sub_goal);
