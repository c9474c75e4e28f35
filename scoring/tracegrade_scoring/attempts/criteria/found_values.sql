-- Arguments and results of each call, where criteria of its attempt's task ask for values.
--
-- Reads:
--   attempt_bindings
--   calls
--   criterion_values
--   attempt_tasks
-- Needs:
--   criterion_values
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id, call_index, sub_goal, condition, part, path
--                        and value that may be there.
--   call_index  INTEGER  A call that the condition is about, by tool and status.
--   sub_goal    VARCHAR  The sub-goal that the criterion belongs to; '' for the task itself.
--   condition   INTEGER  Which condition of that criterion, from 0.
--   kind        VARCHAR  values | state, of the condition.
--   part        VARCHAR  arguments | result of the call.
--   path        VARCHAR  JSON path, or pointer, into that part.
--   captured    BOOLEAN  The part is there unchanged; otherwise it is unknown.
--   actual      VARCHAR  JSON text at the path; NULL if there is none.
--   expected    VARCHAR  JSON text that is expected; NULL for a value that is not bound.
--   pattern     VARCHAR  RE2 that a text must match instead of being equal; NULL if none.
--   low         DOUBLE   Least number, of a number that need not be equal; NULL if none.
--   high        DOUBLE   The greatest.
--   optional    BOOLEAN  The path may be absent.
-- Order:
--   none
SELECT
  calls.attempt_id,
  calls.call_index,
  needed.sub_goal,
  needed.condition,
  needed.kind,
  needed.part,
  needed.path,
  NOT if(needed.part = 'result', calls.result_missing, calls.content_missing) AS captured,
  CASE
    WHEN needed.part = 'arguments'
      THEN if(calls.parsed, json_extract(calls.arguments, needed.path)::VARCHAR, NULL)
    WHEN json_valid(calls.result)
      THEN json_extract(calls.result, needed.path)::VARCHAR
  END AS actual,
  CASE
    WHEN needed.input IS NULL THEN needed.value
    WHEN needed.input_type = 'text' THEN to_json(bound.value)::VARCHAR
    WHEN regexp_full_match(bound.value, '-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?') THEN bound.value
  END AS expected,
  needed.pattern,
  needed.low,
  needed.high,
  -- Only an object can lack an argument.
  needed.optional
  AND (needed.part = 'result' OR (calls.parsed AND starts_with(calls.arguments, '{'))) AS optional
FROM calls
INNER JOIN attempt_tasks USING (attempt_id)
INNER JOIN criterion_values AS needed USING (task_id)
LEFT JOIN attempt_bindings AS bound
  ON
    calls.attempt_id = bound.attempt_id
    AND needed.input = bound.name
WHERE
  (needed.tool_name IS NULL OR needed.tool_name = calls.tool_name)
  AND calls.failed = needed.failed;
