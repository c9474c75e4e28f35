-- The sub-goals that count for an attempt because a verdict judges them, and for nothing else.
--
-- Source: docs/metrics.md, section 4.
--
-- Reads:
--   attempts
--   sub_goal_verdicts
--   task_sub_goals
-- Needs:
--   sub_goal_verdicts
-- Columns:
--   attempt_id  INTEGER    One row each, for attempts with such a sub-goal.
--   task_id     VARCHAR    The task.
--   sub_goals   VARCHAR[]  Sorted; nothing serves them and no criterion tells.
-- Order:
--   none
SELECT
  attempts.attempt_id,
  attempts.task_id,
  list(sub_goal_verdicts.sub_goal ORDER BY sub_goal_verdicts.sub_goal) AS sub_goals
FROM sub_goal_verdicts
INNER JOIN attempts USING (attempt_id)
INNER JOIN task_sub_goals USING (task_id, sub_goal)
WHERE NOT task_sub_goals.counted
GROUP BY attempts.attempt_id, attempts.task_id;
