-- The sub-goal of the chosen variant that each call of an example serves.
--
-- Of several that its task's rules give it to, the first of the file. Source: docs/metrics.md,
-- section 4.3: one variant serves all that is said of an attempt's sub-goals.
--
-- Reads:
--   sub_goal_attribution
--   sub_goal_results
-- Needs:
--   sub_goal_attribution
-- Columns:
--   example     INTEGER  The attempt; others of the same example serve the same.
--   call_index  INTEGER  A call that surely serves one; one row for each of the two.
--   sub_goal    VARCHAR  Named on the span, else by the task's rules.
-- Order:
--   none
SELECT
  sub_goal_results.example,
  serving.call_index,
  arg_min(serving.sub_goal, sub_goal_results.position) AS sub_goal
FROM sub_goal_attribution AS serving
INNER JOIN sub_goal_results
  ON
    serving.attempt_id = sub_goal_results.example
    AND serving.sub_goal = sub_goal_results.sub_goal
WHERE serving.certain
GROUP BY sub_goal_results.example, serving.call_index;
