-- Outcomes of the verdicts that say which sub-goal a call serves.
--
-- Source: docs/metrics.md, section 4.2.
--
-- Reads:
--   ambiguous_calls
--   calls
--   verdicts
-- Columns:
--   outcome   VARCHAR  One row each: counted | no_such_call (no call at the step) | not_ambiguous
--                      (one sub-goal at most) | no_candidate (rules do not give it to the
--                      sub-goal) | could_not_tell.
--   verdicts  BIGINT   Number of verdicts.
-- Order:
--   outcome
SELECT
  CASE
    WHEN calls.attempt_id IS NULL THEN 'no_such_call'
    WHEN ambiguous_calls.attempt_id IS NULL THEN 'not_ambiguous'
    WHEN NOT list_contains(ambiguous_calls.candidates, verdicts.sub_goal) THEN 'no_candidate'
    WHEN verdict_answer(verdicts.label, verdicts.value, verdict_rank(verdicts.source)) IS NULL
      THEN 'could_not_tell'
    ELSE 'counted'
  END AS outcome,
  count(*) AS verdicts
FROM verdicts
LEFT JOIN calls USING (trajectory_id, step_index)
LEFT JOIN ambiguous_calls USING (attempt_id, call_index)
WHERE verdicts.subject = 'served'
GROUP BY outcome
ORDER BY outcome;
