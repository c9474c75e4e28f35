-- What the success criterion of each attempt's task asks of results, with bound values put in.
--
-- Reads:
--   attempt_bindings
--   task_matches
--   task_success_values
-- Columns:
--   attempt_id  VARCHAR  One row for each attempt_id, place and path.
--   place       VARCHAR  result | state.
--   path        VARCHAR  JSON path.
--   value       VARCHAR  JSON; NULL if it refers to a value that is not bound.
-- Order:
--   attempt_id, place, path
SELECT
  task_matches.attempt_id,
  wanted.place,
  wanted.path,
  CASE
    WHEN wanted.input IS NULL THEN wanted.value
    WHEN wanted.input_type = 'text' THEN to_json(bound.value)::VARCHAR
    WHEN regexp_full_match(bound.value, '-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?') THEN bound.value
  END AS value
FROM task_matches
INNER JOIN task_success_values AS wanted USING (task_id)
LEFT JOIN attempt_bindings AS bound
  ON task_matches.attempt_id = bound.attempt_id AND wanted.input = bound.name
ORDER BY task_matches.attempt_id, wanted.place, wanted.path;
