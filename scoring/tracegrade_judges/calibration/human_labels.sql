-- What people say of verdicts that were drawn for them, and of no others.
--
-- Reads:
--   judge_samples
--   verdicts
-- Parameters:
--   $judge  VARCHAR  Name of the judge.
-- Columns:
--   trajectory_id  VARCHAR  One row for each verdict drawn and person.
--   subject        VARCHAR  success | sub_goal.
--   sub_goal       VARCHAR  NULL unless subject is sub_goal.
--   person         VARCHAR  Source of the label: human:NAME.
--   says_yes       BOOLEAN
-- Order:
--   trajectory_id, subject, sub_goal, person
SELECT DISTINCT
  verdicts.trajectory_id,
  verdicts.subject,
  verdicts.sub_goal,
  verdicts.source AS person,
  coalesce(verdicts.label = 'yes', verdicts.value >= 1) AS says_yes
FROM verdicts
INNER JOIN judge_samples
  ON
    verdicts.trajectory_id = judge_samples.trajectory_id
    AND verdicts.subject = judge_samples.subject
    AND verdicts.sub_goal IS NOT DISTINCT FROM judge_samples.sub_goal
WHERE
  judge_samples.judge = $judge  -- noqa: RF02
  AND starts_with(verdicts.source, 'human:')
  AND coalesce(verdicts.label IN ('yes', 'no'), verdicts.value IS NOT NULL)
ORDER BY verdicts.trajectory_id, verdicts.subject, verdicts.sub_goal, person;
