-- What each call returned at the JSON paths that success criteria of its task ask about.
--
-- Reads:
--   attempt_bindings
--   attempts
--   calls
--   graph_values
-- Columns:
--   attempt_id  VARCHAR  One row for each attempt_id, call_index, sub_goal, condition and path.
--   call_index  INTEGER  A call that the condition is about, by tool and status.
--   sub_goal    VARCHAR  The sub-goal that the criterion belongs to.
--   condition   INTEGER  Which condition of that criterion, from 0.
--   path        VARCHAR  JSON path into the result.
--   captured    BOOLEAN  The result is there as the tool gave it; else nothing can be said of it.
--   found       VARCHAR  JSON text at the path; NULL if the result has none there.
--   wanted      VARCHAR  JSON text that is asked for; NULL if it stands for a value not bound.
-- Order:
--   attempt_id, call_index, sub_goal, condition, path
SELECT
  calls.attempt_id,
  calls.call_index,
  graph_values.sub_goal,
  graph_values.condition,
  graph_values.path,
  NOT calls.result_missing AS captured,
  CASE
    WHEN json_valid(calls.result)
      THEN json_extract(calls.result, graph_values.path)::VARCHAR
  END AS found,
  CASE
    WHEN graph_values.input IS NULL THEN graph_values.value
    WHEN graph_values.input_type = 'text' THEN to_json(attempt_bindings.value)::VARCHAR
    WHEN regexp_full_match(attempt_bindings.value, '-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?')
      THEN attempt_bindings.value
  END AS wanted
FROM calls
INNER JOIN attempts USING (attempt_id)
INNER JOIN graph_values USING (task_id)
LEFT JOIN attempt_bindings
  ON
    calls.attempt_id = attempt_bindings.attempt_id
    AND graph_values.input = attempt_bindings.name
WHERE
  (graph_values.tool_name IS NULL OR graph_values.tool_name = calls.tool_name)
  AND calls.failed = graph_values.failed
ORDER BY
  calls.attempt_id,
  calls.call_index,
  graph_values.sub_goal,
  graph_values.condition,
  graph_values.path;
