-- The calls that rules give to several sub-goals, and the sub-goals that verdicts leave.
--
-- Source: docs/metrics.md, section 4.2.
--
-- Reads:
--   served_opinions
--   sub_goal_candidates
-- Needs:
--   sub_goal_candidates
-- Columns:
--   attempt_id         INTEGER    One row for each attempt_id and call_index.
--   call_index         INTEGER    A call whose span names no sub-goal of the task.
--   candidates         VARCHAR[]  Two or more, in the order of the task file.
--   served             VARCHAR[]  Candidates that are left; at least one, in the same order.
--   decided_by         VARCHAR    verifier | evaluation | judge: rank whose verdicts took
--                                 candidates away last; rule: no verdict did.
--   verdicts_disagree  BOOLEAN    Verdicts of one rank said yes and no of one sub-goal.
-- Order:
--   none
-- Most calls have one candidate: these are left out before any list is made.
WITH shared AS (
  SELECT
    attempt_id,
    call_index
  FROM sub_goal_candidates
  WHERE attribution = 'rule'
  GROUP BY attempt_id, call_index
  HAVING count(*) > 1
),

ambiguous AS (
  SELECT
    candidates.attempt_id,
    candidates.call_index,
    list(candidates.sub_goal ORDER BY candidates.position) AS candidates
  FROM sub_goal_candidates AS candidates
  SEMI JOIN shared USING (attempt_id, call_index)
  GROUP BY candidates.attempt_id, candidates.call_index
),

opinions AS (
  SELECT
    attempt_id,
    call_index,
    list(sub_goal) FILTER (WHERE rank = 'verifier' AND serves) AS verifiers_yes,
    list(sub_goal) FILTER (WHERE rank = 'verifier' AND NOT serves) AS verifiers_no,
    list(sub_goal) FILTER (WHERE rank = 'evaluation' AND serves) AS evaluations_yes,
    list(sub_goal) FILTER (WHERE rank = 'evaluation' AND NOT serves) AS evaluations_no,
    list(sub_goal) FILTER (WHERE rank = 'judge' AND serves) AS judges_yes,
    list(sub_goal) FILTER (WHERE rank = 'judge' AND NOT serves) AS judges_no,
    list(sub_goal) FILTER (WHERE disagree) AS disputed
  FROM served_opinions
  GROUP BY attempt_id, call_index
),

left_over AS (
  SELECT
    ambiguous.*,
    remaining(ambiguous.candidates, opinions.verifiers_yes, opinions.verifiers_no) AS by_verifiers,
    remaining(by_verifiers, opinions.evaluations_yes, opinions.evaluations_no) AS by_evaluations,
    remaining(by_evaluations, opinions.judges_yes, opinions.judges_no) AS served,
    list_has_any(ambiguous.candidates, coalesce(opinions.disputed, [])) AS verdicts_disagree
  FROM ambiguous
  LEFT JOIN opinions USING (attempt_id, call_index)
)

SELECT
  attempt_id,
  call_index,
  candidates,
  served,
  CASE
    WHEN len(served) < len(by_evaluations) THEN 'judge'
    WHEN len(by_evaluations) < len(by_verifiers) THEN 'evaluation'
    WHEN len(by_verifiers) < len(candidates) THEN 'verifier'
    ELSE 'rule'
  END AS decided_by,
  verdicts_disagree
FROM left_over;
