-- The sub-goals of its task that each call serves, or may serve, before any verdict.
--
-- A sub-goal named on the span counts if it is in the task; else the rules of the task decide, and
-- may give one call to several sub-goals. Source: docs/metrics.md, section 4.2.
--
-- Reads:
--   argument_patterns
--   attempts
--   calls
--   graph_nodes
--   graph_serves
-- Needs:
--   graph_nodes or graph_serves
-- Columns:
--   attempt_id   INTEGER  One row for each attempt_id, call_index and sub_goal.
--   call_index   INTEGER  The call, from 0.
--   sub_goal     VARCHAR  The sub-goal of the attempt's task; also an uncounted one.
--   position     INTEGER  Its position in the task file, from 0.
--   attribution  VARCHAR  span (named on the span) | rule.
--   certain      BOOLEAN  False where a rule needs arguments that were not captured.
--   failed       BOOLEAN  The call failed, or waits for a person.
-- Order:
--   none
SELECT
  calls.attempt_id,
  calls.call_index,
  graph_nodes.sub_goal,
  graph_nodes.position,
  'span' AS attribution,
  TRUE AS certain,
  calls.failed OR calls.status = 'interrupted' AS failed
FROM calls
INNER JOIN attempts USING (attempt_id)
INNER JOIN graph_nodes USING (task_id, sub_goal)
UNION ALL
SELECT
  calls.attempt_id,
  calls.call_index,
  graph_serves.sub_goal,
  graph_serves.position,
  'rule' AS attribution,
  graph_serves.patterns IS NULL OR NOT calls.content_missing AS certain,
  calls.failed OR calls.status = 'interrupted' AS failed
FROM calls
INNER JOIN attempts USING (attempt_id)
INNER JOIN graph_serves USING (task_id, tool_name)
LEFT JOIN argument_patterns USING (attempt_id, call_index)
LEFT JOIN graph_nodes AS named
  ON
    attempts.task_id = named.task_id
    AND calls.sub_goal = named.sub_goal
WHERE
  named.sub_goal IS NULL
  AND (
    graph_serves.patterns IS NULL
    OR calls.content_missing
    -- One rule is enough.
    OR list_has_any(graph_serves.patterns, argument_patterns.patterns)
  );
