-- What stands in the results at the places that each attempt's success criterion names.
--
-- For `result` every call that could fulfil the criterion is read; for `state` the last call that
-- did not fail and has the path in its result.
--
-- Reads:
--   calls
--   task_matches
--   task_success
--   wanted_values
-- Columns:
--   attempt_id  VARCHAR  One row for each attempt_id, place, path and call_index.
--   place       VARCHAR  result | state.
--   path        VARCHAR  JSON path.
--   call_index  INTEGER  The call whose result was read.
--   captured    BOOLEAN  The call's result was captured, whole.
--   wanted      VARCHAR  JSON; NULL if it refers to a value that is not bound.
--   found       VARCHAR  JSON; NULL if the result has nothing there or is no JSON.
-- Order:
--   attempt_id, place, path, call_index
WITH read_results AS (
  SELECT
    wanted_values.attempt_id,
    wanted_values.place,
    wanted_values.path,
    calls.call_index,
    NOT calls.result_missing AS captured,
    wanted_values.value AS wanted,
    CASE
      WHEN json_valid(calls.result)
        THEN json_extract(calls.result, wanted_values.path)::VARCHAR
    END AS found
  FROM wanted_values
  INNER JOIN task_matches USING (attempt_id)
  INNER JOIN task_success USING (task_id)
  INNER JOIN calls
    ON
      wanted_values.attempt_id = calls.attempt_id
      AND CASE wanted_values.place
        WHEN 'state' THEN NOT calls.failed
        ELSE
          task_success.failed = calls.failed
          AND coalesce(task_success.tool_name = calls.tool_name, task_success.tool_name IS NULL)
      END
)

SELECT
  attempt_id,
  place,
  path,
  call_index,
  captured,
  wanted,
  found
FROM read_results
WHERE
  place = 'result'
  OR found IS NOT NULL
QUALIFY
  place = 'result'
  OR row_number() OVER (PARTITION BY attempt_id, place, path ORDER BY call_index DESC) = 1
ORDER BY attempt_id, place, path, call_index;
