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
--   expected_tool  VARCHAR  NULL if any tool with an effect is right.
--   times          BIGINT   Decision points that count; at least 1.
--   correct        BIGINT   Of these, right.
--   missed         BIGINT   Of these, without any call.
--   instead        VARCHAR  What was picked most often of what was wrong; NULL if nothing was.
--   example        VARCHAR  A run that went wrong there; NULL if none did.
--   step_index     INTEGER  Where, in that run; NULL where no call was made.
-- Order:
--   mean place among the decisions of a run, decision, expected_tool
SELECT
  decision,
  expected_tool,
  count(*) AS times,
  count(*) FILTER (WHERE correct) AS correct,
  count(*) FILTER (WHERE missed) AS missed,
  mode(picked_tool) FILTER (WHERE NOT correct AND picked_tool IS NOT NULL) AS instead,
  min(trajectory_id) FILTER (WHERE NOT correct) AS example,
  arg_min(step_index, trajectory_id) FILTER (WHERE NOT correct) AS step_index
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
