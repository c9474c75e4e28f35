-- The decision points of one task where the agent did not pick the right tool, and why.
--
-- Reads:
--   decisions
-- Parameters:
--   $task_id  VARCHAR  The task.
-- Columns:
--   release      VARCHAR  One row for each wrong decision.
--   decision     VARCHAR  The task's name for the point; NULL if the task expects nothing there.
--   picked_tool  VARCHAR  NULL if no call was made for the point.
--   step_index   INTEGER  Index of the call in its trajectory; NULL if no call was made.
--   reason       VARCHAR  One sentence.
-- Order:
--   release, trajectory_id, decision_index
SELECT
  release,
  decision,
  picked_tool,
  step_index,
  reason
FROM decisions
WHERE
  task_id = $task_id
  AND counted
  AND NOT correct
ORDER BY release, trajectory_id, decision_index;
