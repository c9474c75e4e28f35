-- What each call was given, or returned, where criteria of its attempt's task ask for values.
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
--                        and value that may stand there.
--   call_index  INTEGER  A call that the condition is about, by tool and status.
--   sub_goal    VARCHAR  The sub-goal that the criterion belongs to; '' for the task itself.
--   condition   INTEGER  Which condition of that criterion, from 0.
--   kind        VARCHAR  values | state, of the condition.
--   part        VARCHAR  arguments | result of the call.
--   path        VARCHAR  JSON path, or pointer, into that part.
--   captured    BOOLEAN  The part is there as it was; else nothing can be said of it.
--   found       VARCHAR  JSON text at the path; NULL if there is none.
--   expected    VARCHAR  JSON text that is asked for; NULL if it stands for a value not bound.
--   pattern     VARCHAR  RE2 that a text must match instead of being equal; NULL if none.
--   low         DOUBLE   Least number, of a number that need not be equal; NULL if none.
--   high        DOUBLE   The greatest.
--   optional    BOOLEAN  There need be nothing at the path.
-- Order:
--   none
SELECT
  calls.attempt_id,
  calls.call_index,
  asked.sub_goal,
  asked.condition,
  asked.kind,
  asked.part,
  asked.path,
  NOT if(asked.part = 'result', calls.result_missing, calls.content_missing) AS captured,
  CASE
    WHEN asked.part = 'arguments'
      THEN if(calls.parsed, json_extract(calls.arguments, asked.path)::VARCHAR, NULL)
    WHEN json_valid(calls.result)
      THEN json_extract(calls.result, asked.path)::VARCHAR
  END AS found,
  CASE
    WHEN asked.input IS NULL THEN asked.value
    WHEN asked.input_type = 'text' THEN to_json(bound.value)::VARCHAR
    WHEN regexp_full_match(bound.value, '-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?') THEN bound.value
  END AS expected,
  asked.pattern,
  asked.low,
  asked.high,
  -- Only an object can lack an argument.
  asked.optional
  AND (asked.part = 'result' OR (calls.parsed AND starts_with(calls.arguments, '{'))) AS optional
FROM calls
INNER JOIN attempt_tasks USING (attempt_id)
INNER JOIN criterion_values AS asked USING (task_id)
LEFT JOIN attempt_bindings AS bound
  ON
    calls.attempt_id = bound.attempt_id
    AND asked.input = bound.name
WHERE
  (asked.tool_name IS NULL OR asked.tool_name = calls.tool_name)
  AND calls.failed = asked.failed;
