-- The verdicts on the success of each attempt and on its sub-goals, by source.
--
-- A source's rank is the word before its first colon: `judge:answers` is a judge's. A label that
-- is a word for success or failure decides, else the value: at least 0.7 of a judge or an
-- evaluation result, 1 of others. Of one rank all must say yes, and one that could not tell makes
-- it unknown. Source: docs/metrics.md, section 8.3.
--
-- Reads:
--   verdicts
-- Needs:
--   verdicts
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id, sub_goal and rank.
--   sub_goal    VARCHAR  '' where it is about the attempt.
--   rank        VARCHAR  verifier | evaluation | judge.
--   success     BOOLEAN  NULL if one of them could not tell.
--   disagree    BOOLEAN  One of them said yes and another no.
-- Order:
--   none
WITH read_verdicts AS (
  SELECT
    trajectory_id AS attempt_id,
    if(subject = 'success', '', sub_goal) AS sub_goal,
    CASE
      WHEN source = 'gen_ai.evaluation.result' THEN 'evaluation'
      WHEN split_part(coalesce(source, ''), ':', 1) = 'judge' THEN 'judge'
      ELSE 'verifier'
    END AS rank,
    CASE
      WHEN lower(label) IN ('success', 'pass', 'passed', 'true', 'correct', 'yes') THEN TRUE
      WHEN lower(label) IN ('failure', 'fail', 'failed', 'false', 'incorrect', 'no') THEN FALSE
      WHEN lower(label) = 'error' THEN NULL
      WHEN rank IN ('evaluation', 'judge') THEN round_even(value, 9) >= 0.7
      ELSE round_even(value, 9) >= 1
    END AS success
  FROM verdicts
  WHERE subject IN ('success', 'sub_goal')
)

SELECT
  attempt_id,
  sub_goal,
  rank,
  CASE WHEN count(success) = count(*) THEN bool_and(success) END AS success,
  coalesce(bool_or(success) AND NOT bool_and(success), FALSE) AS disagree
FROM read_verdicts
WHERE sub_goal IS NOT NULL
GROUP BY attempt_id, sub_goal, rank;
