-- Which tools each attempt with expectations used and how often, as a text for equal ones.
--
-- Where only the list of writes is complete, calls of effect read are left out.
-- Source: metrics.md, section 2, the filter.
--
-- Reads:
--   attempts
--   calls
--   tasks
-- Columns:
--   attempt_id  VARCHAR  One row for each attempt whose task states expectations.
--   task_id     VARCHAR  Its task.
--   uses        VARCHAR  JSON list of {tool, effect, calls}, sorted; '[]' for no calls.
-- Order:
--   attempt_id
WITH used AS (
  SELECT
    attempts.attempt_id,
    attempts.task_id,
    calls.tool_name,
    calls.effect,
    count(calls.attempt_id) AS calls
  FROM attempts
  INNER JOIN tasks USING (task_id)
  LEFT JOIN calls
    ON
      attempts.attempt_id = calls.attempt_id
      AND (tasks.expected_complete <> 'writes' OR coalesce(calls.effect <> 'read', TRUE))
  WHERE tasks.has_expected
  GROUP BY ALL
)

SELECT
  attempt_id,
  any_value(task_id) AS task_id,
  coalesce(
    to_json(
      list(
        struct_pack(tool := tool_name, effect := effect, calls := calls)
        ORDER BY tool_name, effect
      ) FILTER (WHERE calls > 0)
    )::VARCHAR,
    '[]'
  ) AS uses
FROM used
GROUP BY attempt_id
ORDER BY attempt_id;
