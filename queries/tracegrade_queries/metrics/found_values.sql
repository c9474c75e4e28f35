-- What each call returned at the JSON paths that criteria of its attempt's task ask about.
--
-- Reads:
--   attempt_bindings
--   calls
--   criterion_values
--   task_matches
-- Columns:
--   attempt_id  VARCHAR  One row for each attempt_id, call_index, sub_goal, condition and path.
--   call_index  INTEGER  A call that the condition is about, by tool and status.
--   sub_goal    VARCHAR  The sub-goal that the criterion belongs to; '' for the task itself.
--   condition   INTEGER  Which condition of that criterion, from 0.
--   path        VARCHAR  JSON path into the result.
--   captured    BOOLEAN  The result is there as the tool gave it; else nothing can be said of it.
--   found       VARCHAR  JSON text at the path; NULL if the result has none there.
--   wanted      VARCHAR  JSON text that is asked for; NULL if it stands for a value not bound.
-- Order:
--   none
SELECT
  calls.attempt_id,
  calls.call_index,
  asked.sub_goal,
  asked.condition,
  asked.path,
  NOT calls.result_missing AS captured,
  CASE
    WHEN json_valid(calls.result)
      THEN json_extract(calls.result, asked.path)::VARCHAR
  END AS found,
  CASE
    WHEN asked.input IS NULL THEN asked.value
    WHEN asked.input_type = 'text' THEN to_json(bound.value)::VARCHAR
    WHEN regexp_full_match(bound.value, '-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?') THEN bound.value
  END AS wanted
FROM calls
INNER JOIN task_matches USING (attempt_id)
INNER JOIN criterion_values AS asked USING (task_id)
LEFT JOIN attempt_bindings AS bound
  ON
    calls.attempt_id = bound.attempt_id
    AND asked.input = bound.name
WHERE
  (asked.tool_name IS NULL OR asked.tool_name = calls.tool_name)
  AND calls.failed = asked.failed;
