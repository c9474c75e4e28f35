-- The sub-goal of each call, and the call that opened its decision point.
--
-- After a failed call, later calls up to the first success join its point, also across other
-- calls, if they serve the same sub-goal. If the call serves none, calls of the same tool join it.
-- Source: [Triangle], "Measuring TSA"; docs/metrics.md, section 1.1.
--
-- Reads:
--   ambiguous_calls
--   argument_patterns
--   calls
--   attempt_tasks
--   task_serves
--   task_sub_goals
-- Columns:
--   attempt_id  INTEGER  The root trajectory.
--   call_index  INTEGER  One row for each attempt_id and call_index.
--   sub_goal    VARCHAR  Named on the span, else by verdicts among several, else by the task's
--                        rules; NULL if it serves none.
--   first_call  INTEGER  The first call of its decision point; its own index where it opens one.
-- Order:
--   none
WITH serving AS (
  SELECT
    task_serves.task_id,
    task_serves.tool_name,
    list_sort(
      list(
        struct_pack(
          position := task_sub_goals.position,
          sub_goal := task_serves.sub_goal,
          arguments := task_serves.arguments
        )
      )
    ) AS rules
  FROM task_serves
  INNER JOIN task_sub_goals USING (task_id, sub_goal)
  GROUP BY task_serves.task_id, task_serves.tool_name
),

judged AS (
  SELECT
    attempt_id,
    call_index,
    served[1] AS sub_goal
  FROM ambiguous_calls
  WHERE decided_by <> 'rule'
),

ruled AS (
  SELECT
    calls.attempt_id,
    calls.call_index,
    calls.failed,
    calls.tool_name,
    coalesce(calls.sub_goal, judged.sub_goal) AS sub_goal,
    serving.rules,
    argument_patterns.patterns
  FROM calls
  LEFT JOIN attempt_tasks USING (attempt_id)
  LEFT JOIN serving
    ON attempt_tasks.task_id = serving.task_id AND calls.tool_name = serving.tool_name
  LEFT JOIN argument_patterns
    ON
      calls.attempt_id = argument_patterns.attempt_id
      AND calls.call_index = argument_patterns.call_index
  LEFT JOIN judged
    ON calls.attempt_id = judged.attempt_id AND calls.call_index = judged.call_index
),

served AS (
  SELECT
    attempt_id,
    call_index,
    failed,
    tool_name,
    -- If a tool may serve several sub-goals, the first in the file counts.
    coalesce(
      sub_goal,
      list_filter(
        rules,
        LAMBDA rule: rule.arguments IS NULL OR list_contains(patterns, rule.arguments)
      )[1].sub_goal
    ) AS sub_goal
  FROM ruled
),

-- Materialized, because it is read twice.
purposes AS MATERIALIZED (
  SELECT
    attempt_id,
    call_index,
    failed,
    sub_goal,
    if(sub_goal IS NULL, tool_name, NULL) AS tool_name
  FROM served
),

-- Where nothing failed, every call is a point of its own.
with_failures AS (
  SELECT DISTINCT attempt_id
  FROM calls
  WHERE failed
),

openings AS (
  SELECT
    *,
    coalesce(lag(failed) OVER same_purpose, FALSE) AS follows_up
  FROM purposes
  WHERE attempt_id IN (FROM with_failures)
  WINDOW same_purpose AS (PARTITION BY attempt_id, sub_goal, tool_name ORDER BY call_index)
)

SELECT
  attempt_id,
  call_index,
  sub_goal,
  call_index AS first_call
FROM purposes
WHERE attempt_id NOT IN (FROM with_failures)
UNION ALL
SELECT
  attempt_id,
  call_index,
  sub_goal,
  max(if(follows_up, NULL, call_index)) OVER (
    PARTITION BY attempt_id, sub_goal, tool_name
    ORDER BY call_index
  ) AS first_call
FROM openings;
