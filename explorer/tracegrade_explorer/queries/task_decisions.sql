-- The calls that a task expects, and how often the first call there was right.
--
-- Runs that do not count in rates, and those that are not listed, are left out.
--
-- Reads:
--   decisions
--   run_index
-- Parameters:
--   $task_id  VARCHAR  The task.
-- Columns:
--   decision       VARCHAR  Its name; NULL if it has none. One row for each and expected_tool.
--   expected_tool     VARCHAR  NULL if any tool with an effect is right.
--   times             BIGINT   Decision points that count; at least 1.
--   correct           BIGINT   Of these, right.
--   missed            BIGINT   Of these, without any call.
--   wrong_arguments   BIGINT   Of these, the tool was right and its arguments were wrong.
--   argument_reason   VARCHAR  What was most often wrong about them; NULL if nothing was.
--   instead           VARCHAR  What else was picked most often where it was wrong; NULL if nothing
--                              was.
--   example           VARCHAR  A run that went wrong there; NULL if none did.
--   example_step_run  VARCHAR  It, or the run of its sub-agent that made the call; NULL likewise.
--   step_index        INTEGER  Where, in that run; NULL where no call was made.
-- Order:
--   mean place among the decisions of a run, decision, expected_tool
SELECT
  decision,
  expected_tool,
  count(*) AS times,
  count(*) FILTER (WHERE correct) AS correct,
  count(*) FILTER (WHERE missed) AS missed,
  count(*) FILTER (WHERE NOT correct AND failed_criteria = ['b']) AS wrong_arguments,
  mode(reason) FILTER (WHERE NOT correct AND failed_criteria = ['b']) AS argument_reason,
  mode(picked_tool)
  FILTER (WHERE NOT correct AND picked_tool IS NOT NULL AND failed_criteria <> ['b'])
    AS instead,
  min(trajectory_id) FILTER (WHERE NOT correct) AS example,
  first(step_trajectory_id ORDER BY trajectory_id, decision_index) FILTER (WHERE NOT correct)
    AS example_step_run,
  first(step_index ORDER BY trajectory_id, decision_index) FILTER (WHERE NOT correct)
    AS step_index
FROM decisions
WHERE
  task_id = $task_id
  AND counted
  AND trajectory_id IN (
    SELECT run_index.trajectory_id FROM run_index
    WHERE NOT run_index.killed AND NOT run_index.superseded
  )
GROUP BY decision, expected_tool
ORDER BY avg(decision_index), decision, expected_tool;
