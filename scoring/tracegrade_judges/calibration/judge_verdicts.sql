-- The verdicts of a judge that are yes or no, for each run.
--
-- Reads:
--   ambiguous_calls
--   trajectories
--   trajectory_scores
--   verdicts
-- Parameters:
--   $judge_source  VARCHAR  Source of the judge's verdicts.
-- Columns:
--   trajectory_id  VARCHAR  One row for each run, subject, sub-goal, step and question.
--   subject        VARCHAR  success | sub_goal | planning | served.
--   sub_goal       VARCHAR  NULL unless subject is sub_goal or served.
--   step_index     INTEGER  NULL unless subject is served.
--   candidates     VARCHAR[]  Sub-goals that the call may serve; NULL unless subject is served.
--   plan_question  VARCHAR  NULL unless subject is planning.
--   label          VARCHAR  yes | no.
--   task_id        VARCHAR  NULL if it is not known.
--   agent_name     VARCHAR  NULL if none is named.
--   release        VARCHAR  NULL if not sent.
--   user_input     VARCHAR  NULL if not captured.
--   final_answer   VARCHAR  NULL if there is none.
-- Order:
--   trajectory_id, subject, sub_goal, step_index, plan_question
SELECT
  verdicts.trajectory_id,
  verdicts.subject,
  verdicts.sub_goal,
  verdicts.step_index,
  ambiguous_calls.candidates,
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
LEFT JOIN ambiguous_calls
  ON
    verdicts.trajectory_id = ambiguous_calls.step_trajectory_id
    AND verdicts.step_index = ambiguous_calls.step_index
WHERE
  verdicts.source = $judge_source  -- noqa: RF02
  AND verdicts.label IN ('yes', 'no')
  AND verdicts.subject IN ('success', 'sub_goal', 'planning', 'served')
ORDER BY
  verdicts.trajectory_id,
  verdicts.subject,
  verdicts.sub_goal,
  verdicts.step_index,
  verdicts.question;
