-- The places where each attempt chose a tool; failed calls and what follows up on them are one.
--
-- After a failed call, later calls up to the first success that serve the same sub-goal (where the
-- call serves none: that use the same tool) join its point, also across other calls. Only the
-- first call of a point is judged. Source: Triangle, "Measuring TSA"; metrics.md, section 1.
--
-- Reads:
--   calls
--   task_matches
--   task_serves
--   task_sub_goals
-- Columns:
--   attempt_id   VARCHAR  The root trajectory.
--   point_index  INTEGER  Dense from 0 by first call; one row for each attempt_id and point_index.
--   call_index   INTEGER  The first call.
--   calls        INTEGER  Calls of the point; at least 1.
-- Order:
--   attempt_id, point_index
WITH served AS (
  SELECT
    calls.attempt_id,
    calls.call_index,
    -- Of several sub-goals that a tool may serve, the first of the file.
    arg_min(task_serves.sub_goal, task_sub_goals.position) AS sub_goal
  FROM calls
  INNER JOIN task_matches USING (attempt_id)
  INNER JOIN task_serves
    ON
      task_matches.task_id = task_serves.task_id
      AND calls.tool_name = task_serves.tool_name
      AND coalesce(
        regexp_matches(calls.arguments, task_serves.arguments), task_serves.arguments IS NULL
      )
  INNER JOIN task_sub_goals
    ON
      task_serves.task_id = task_sub_goals.task_id
      AND task_serves.sub_goal = task_sub_goals.sub_goal
  GROUP BY calls.attempt_id, calls.call_index
),

purposes AS (
  SELECT
    calls.attempt_id,
    calls.call_index,
    calls.failed,
    coalesce(calls.sub_goal, served.sub_goal) AS sub_goal,
    if(coalesce(calls.sub_goal, served.sub_goal) IS NULL, calls.tool_name, NULL) AS tool_name
  FROM calls
  LEFT JOIN served USING (attempt_id, call_index)
),

openings AS (
  SELECT
    *,
    coalesce(lag(failed) OVER same_purpose, FALSE) AS follows_up
  FROM purposes
  WINDOW same_purpose AS (PARTITION BY attempt_id, sub_goal, tool_name ORDER BY call_index)
),

numbered AS (
  SELECT
    attempt_id,
    call_index,
    sub_goal,
    tool_name,
    count_if(NOT follows_up) OVER (
      PARTITION BY attempt_id, sub_goal, tool_name
      ORDER BY call_index
    ) AS opening
  FROM openings
),

points AS (
  SELECT
    attempt_id,
    min(call_index) AS call_index,
    count(*)::INTEGER AS calls
  FROM numbered
  GROUP BY attempt_id, sub_goal, tool_name, opening
)

SELECT
  attempt_id,
  (row_number() OVER (PARTITION BY attempt_id ORDER BY call_index) - 1)::INTEGER AS point_index,
  call_index,
  calls
FROM points
ORDER BY attempt_id, point_index;
