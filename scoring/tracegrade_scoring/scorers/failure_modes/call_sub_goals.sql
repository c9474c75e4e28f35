-- The sub-goal of the chosen variant that each call of an example serves.
--
-- If its task's rules give a call to several sub-goals, the first in the file counts. Source:
-- docs/metrics.md, section 4.3: one variant is used for everything about an attempt's sub-goals.
--
-- Reads:
--   sub_goal_attribution
--   sub_goal_results
-- Needs:
--   sub_goal_attribution
-- Columns:
--   example     INTEGER  The attempt; other attempts of the same example serve the same sub-goals.
--   call_index  INTEGER  A call that surely serves a sub-goal; one row for each example and
--                        call_index.
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
