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
--   correct           BIGINT   Decisions that were right.
--   missed            BIGINT   Decisions without any call.
--   wrong_arguments   BIGINT   Decisions with the right tool and wrong arguments.
--   argument_reason   VARCHAR  Most frequent error in the arguments; NULL if there was none.
--   instead           VARCHAR  Wrong tool that was picked most often; NULL if there was none.
--   example           VARCHAR  A run that went wrong there; NULL if none did.
--   example_step_run  VARCHAR  That run, or the run of its sub-agent that made the call; NULL as
--                              above.
--   step_index        INTEGER  Index of the call in that run; NULL if no call was made.
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
