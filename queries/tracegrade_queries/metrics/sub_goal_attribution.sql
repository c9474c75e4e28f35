-- Which sub-goals of its task each call serves, or may serve.
--
-- A sub-goal named on the span counts if the task knows it; else the rules of the task decide, and
-- one call may serve several sub-goals.
--
-- Reads:
--   attempts
--   calls
--   graph_nodes
--   graph_serves
-- Columns:
--   attempt_id   INTEGER  One row for each attempt_id, call_index and sub_goal.
--   call_index   INTEGER  The call, from 0.
--   sub_goal     VARCHAR  The sub-goal of the attempt's task; also an uncounted one.
--   attribution  VARCHAR  span (named on the span) | rule.
--   certain      BOOLEAN  False where a rule needs arguments that were not captured.
-- Order:
--   none
WITH task_calls AS (
  SELECT
    attempts.task_id,
    calls.attempt_id,
    calls.call_index,
    calls.tool_name,
    calls.arguments,
    calls.content_missing,
    graph_nodes.sub_goal AS named
  FROM calls
  INNER JOIN attempts USING (attempt_id)
  LEFT JOIN graph_nodes USING (task_id, sub_goal)
),

matched_rules AS (
  SELECT
    task_calls.attempt_id,
    task_calls.call_index,
    graph_serves.sub_goal,
    CASE
      WHEN graph_serves.arguments IS NULL THEN TRUE
      WHEN task_calls.content_missing THEN NULL
      ELSE coalesce(regexp_matches(task_calls.arguments, graph_serves.arguments), FALSE)
    END AS holds
  FROM task_calls
  INNER JOIN graph_serves USING (task_id, tool_name)
  WHERE task_calls.named IS NULL
)

SELECT
  attempt_id,
  call_index,
  named AS sub_goal,
  'span' AS attribution,
  TRUE AS certain
FROM task_calls
WHERE named IS NOT NULL
UNION ALL
SELECT
  attempt_id,
  call_index,
  sub_goal,
  'rule' AS attribution,
  -- Of several rules one is enough.
  coalesce(bool_or(holds), FALSE) AS certain
FROM matched_rules
WHERE holds IS DISTINCT FROM FALSE
GROUP BY attempt_id, call_index, sub_goal;
