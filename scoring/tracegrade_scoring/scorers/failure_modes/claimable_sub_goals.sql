-- Critical sub-goals that need a write and were not completed: an answer that claims them is
-- untrue.
--
-- No call, with any arguments, of a tool that serves the sub-goal and writes something succeeded,
-- and no call that names the sub-goal on its span went well. Source: docs/metrics.md, section 9.3.
--
-- Reads:
--   attempts
--   calls
--   graph_serves
--   sub_goal_attribution
--   sub_goal_examples
--   sub_goal_results
--   task_tools
-- Needs:
--   task_tools WHERE effect IN ('write', 'destructive')
--   sub_goal_results WHERE critical AND met IS DISTINCT FROM TRUE
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id, sub_goal and tool_name.
--   sub_goal    VARCHAR  A sub-goal that is not known to be met.
--   tool_name   VARCHAR  A tool that writes, and would have served it.
--   known       BOOLEAN  It is known that the sub-goal is not met.
-- Order:
--   none
WITH writing AS (
  SELECT
    graph_serves.task_id,
    graph_serves.sub_goal,
    graph_serves.tool_name
  FROM graph_serves
  INNER JOIN task_tools USING (tool_name)
  WHERE task_tools.effect IN ('write', 'destructive')
),

unmet AS (
  SELECT
    sub_goal_examples.attempt_id,
    attempts.task_id,
    sub_goal_results.sub_goal,
    sub_goal_results.met IS NOT NULL AS known
  FROM sub_goal_results
  INNER JOIN sub_goal_examples USING (example)
  INNER JOIN attempts USING (attempt_id)
  WHERE
    sub_goal_results.critical
    AND sub_goal_results.met IS DISTINCT FROM TRUE
),

done AS (
  SELECT
    unmet.attempt_id,
    unmet.sub_goal
  FROM unmet
  INNER JOIN writing USING (task_id, sub_goal)
  INNER JOIN calls USING (attempt_id, tool_name)
  WHERE
    NOT calls.failed
    AND calls.status <> 'interrupted'
  UNION
  SELECT
    attempt_id,
    sub_goal
  FROM sub_goal_attribution
  WHERE
    attribution = 'span'
    AND NOT failed
)

SELECT
  unmet.attempt_id,
  unmet.sub_goal,
  writing.tool_name,
  unmet.known
FROM unmet
INNER JOIN writing USING (task_id, sub_goal)
ANTI JOIN done USING (attempt_id, sub_goal);
