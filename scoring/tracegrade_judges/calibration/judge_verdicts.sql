-- What a judge says of each run: verdicts that are yes or no.
--
-- Reads:
--   trajectories
--   trajectory_scores
--   verdicts
-- Parameters:
--   $judge_source  VARCHAR  Of the judge's verdicts.
-- Columns:
--   trajectory_id  VARCHAR  One row for each run, subject, sub-goal and question.
--   subject        VARCHAR  success | sub_goal | planning.
--   sub_goal       VARCHAR  NULL unless subject is sub_goal.
--   plan_question  VARCHAR  NULL unless subject is planning.
--   label          VARCHAR  yes | no.
--   task_id        VARCHAR  NULL if it is not known.
--   agent_name     VARCHAR  NULL if none is named.
--   release        VARCHAR  NULL if not sent.
--   user_input     VARCHAR  NULL if not captured.
--   final_answer   VARCHAR  NULL if there is none.
-- Order:
--   trajectory_id, subject, sub_goal, plan_question
SELECT
  verdicts.trajectory_id,
  verdicts.subject,
  verdicts.sub_goal,
  verdicts.question AS plan_question,
  verdicts.label,
  trajectory_scores.task_id,
  trajectories.agent_name,
  trajectories.release,
  trajectories.user_input,
  trajectories.final_answer
FROM verdicts
INNER JOIN trajectories USING (trajectory_id)
LEFT JOIN trajectory_scores ON verdicts.trajectory_id = trajectory_scores.trajectory_id
WHERE
  verdicts.source = $judge_source  -- noqa: RF02
  AND verdicts.label IN ('yes', 'no')
  AND verdicts.subject IN ('success', 'sub_goal', 'planning')
ORDER BY verdicts.trajectory_id, verdicts.subject, verdicts.sub_goal, verdicts.question;
