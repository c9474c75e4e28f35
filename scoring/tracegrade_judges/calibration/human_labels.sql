-- People's labels of the verdicts that were drawn for labeling; labels of other verdicts do not
-- count.
--
-- A label says yes or no by the words that decide on success, and by its value if it has no words.
-- Source: docs/metrics.md, section 8.3.
--
-- Reads:
--   judge_samples
--   counted_verdicts
-- Parameters:
--   $judge  VARCHAR  Name of the judge.
-- Columns:
--   trajectory_id  VARCHAR  One row for each verdict drawn and person.
--   subject        VARCHAR  success | sub_goal | planning | served.
--   sub_goal       VARCHAR  NULL unless subject is sub_goal or served.
--   step_index     INTEGER  NULL unless subject is served.
--   plan_question  VARCHAR  NULL unless subject is planning.
--   person         VARCHAR  Source of the label: human or human:NAME.
--   says_yes       BOOLEAN
-- Order:
--   trajectory_id, subject, sub_goal, step_index, plan_question, person
SELECT DISTINCT
  verdicts.trajectory_id,
  verdicts.subject,
  verdicts.sub_goal,
  verdicts.step_index,
  verdicts.question AS plan_question,
  verdicts.source AS person,
  CASE
    WHEN lower(verdicts.label) IN ('success', 'pass', 'passed', 'true', 'correct', 'yes')
      THEN TRUE
    WHEN lower(verdicts.label) IN ('failure', 'fail', 'failed', 'false', 'incorrect', 'no')
      THEN FALSE
    WHEN lower(verdicts.label) = 'error' THEN NULL
    ELSE round_even(verdicts.value, 9) >= 1
  END AS says_yes
FROM counted_verdicts AS verdicts
INNER JOIN judge_samples
  ON
    verdicts.trajectory_id = judge_samples.trajectory_id
    AND verdicts.subject = judge_samples.subject
    AND verdicts.sub_goal IS NOT DISTINCT FROM judge_samples.sub_goal
    AND verdicts.step_index IS NOT DISTINCT FROM judge_samples.step_index
    AND verdicts.question IS NOT DISTINCT FROM judge_samples.question
WHERE
  judge_samples.judge = $judge  -- noqa: RF02
  AND split_part(verdicts.source, ':', 1) = 'human'
  AND says_yes IS NOT NULL
ORDER BY
  verdicts.trajectory_id,
  verdicts.subject,
  verdicts.sub_goal,
  verdicts.step_index,
  plan_question,
  person;
