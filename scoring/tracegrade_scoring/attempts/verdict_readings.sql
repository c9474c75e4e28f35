-- Each verdict on the success of an attempt or on one of its sub-goals, and what it says.
--
-- Source: docs/metrics.md, section 8.3.
--
-- Reads:
--   verdicts
-- Needs:
--   verdicts
-- Columns:
--   attempt_id  INTEGER  One row for each verdict.
--   sub_goal    VARCHAR  '' where it is about the attempt.
--   judged_by   VARCHAR  The word before the first colon of its source; '' without a source.
--   rank        VARCHAR  human | verifier | evaluation | judge.
--   success     BOOLEAN  NULL if it could not tell.
--   by_limit    BOOLEAN  The verdict says that a limit ended the attempt.
--   source      VARCHAR  Who judged; a person's begins with `human:`. NULL if not named.
--   label       VARCHAR  As given; NULL if none was.
--   evidence    VARCHAR  As given; NULL if none was.
--   tag         VARCHAR  What went wrong, in a word or two; NULL if not said.
-- Order:
--   none
SELECT
  trajectory_id AS attempt_id,
  if(subject = 'success', '', sub_goal) AS sub_goal,
  split_part(coalesce(source, ''), ':', 1) AS judged_by,
  if(judged_by = 'human', 'human', verdict_rank(source)) AS rank,
  verdict_answer(label, value, rank) AS success,
  rank IN ('human', 'verifier')
  AND subject = 'success'
  AND coalesce(lower(label) = 'budget', FALSE) AS by_limit,
  source,
  label,
  evidence,
  tag
FROM verdicts
WHERE
  subject IN ('success', 'sub_goal')
  AND (subject = 'success' OR sub_goal IS NOT NULL);
