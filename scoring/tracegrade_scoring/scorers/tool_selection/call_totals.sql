-- Counts of each trajectory's calls: offered or not, valid or not, avoidable or not.
--
-- Reads:
--   call_validity
--   calls
--   task_tools
--   validated_arguments
-- Columns:
--   trajectory_id    INTEGER  One row for each trajectory with calls.
--   attempt_id       INTEGER  The attempt that it belongs to.
--   calls            BIGINT   At least 1.
--   known            BIGINT   Calls for which it is known whether the tool was offered.
--   allowed          BIGINT   Calls to tools that were offered.
--   with_schema      BIGINT   Calls with a known schema.
--   valid            BIGINT   Calls whose arguments satisfy it.
--   unreadable       BIGINT   Calls with a schema whose arguments were not captured.
--   unchecked        BIGINT   Calls with a schema that takes too many steps to check.
--   avoidable        BIGINT   Destructive calls where a safe equivalent was registered.
--   first_unoffered  INTEGER  Index of the first call to a tool that was not offered, or NULL.
--   first_invalid    INTEGER  Index of the first call with invalid arguments, or NULL.
-- Order:
--   none
WITH registry AS (
  SELECT count(*) > 0 AS known
  FROM task_tools
),

-- Destructive tools with an alternative that is not destructive.
avoidable_tools AS (
  SELECT DISTINCT destructive.tool_name
  FROM (
    SELECT
      tool_name,
      unnest(alternatives) AS alternative
    FROM task_tools
  ) AS destructive
  INNER JOIN task_tools AS safe ON destructive.alternative = safe.tool_name
  WHERE safe.effect IN ('read', 'write')
),

judged AS (
  SELECT
    calls.attempt_id,
    calls.trajectory_id,
    calls.call_index,
    CASE
      WHEN calls.offered IS NOT NULL THEN calls.offered
      WHEN registry.known AND calls.tool_name IS NOT NULL THEN task_tools.tool_name IS NOT NULL
    END AS allowed,
    validity.attempt_id IS NOT NULL AS has_schema,
    validity.valid,
    coalesce(validated_arguments.too_many_steps, FALSE) AS is_unchecked,
    calls.effect = 'destructive' AND calls.may_change AND avoidable_tools.tool_name IS NOT NULL
      AS avoidable
  FROM calls
  CROSS JOIN registry
  LEFT JOIN task_tools ON calls.tool_name = task_tools.tool_name
  LEFT JOIN avoidable_tools ON calls.tool_name = avoidable_tools.tool_name
  LEFT JOIN call_validity AS validity
    ON calls.attempt_id = validity.attempt_id AND calls.call_index = validity.call_index
  LEFT JOIN validated_arguments
    ON
      calls.attempt_id = validated_arguments.attempt_id
      AND calls.call_index = validated_arguments.call_index
)

SELECT
  trajectory_id,
  any_value(attempt_id) AS attempt_id,
  count(*) AS calls,
  count(allowed) AS known,
  count(*) FILTER (WHERE allowed) AS allowed,
  count(*) FILTER (WHERE has_schema) AS with_schema,
  count(*) FILTER (WHERE valid) AS valid,
  count(*) FILTER (WHERE has_schema AND valid IS NULL) AS unreadable,
  count(*) FILTER (WHERE is_unchecked) AS unchecked,
  count(*) FILTER (WHERE avoidable) AS avoidable,
  min(call_index) FILTER (WHERE NOT allowed) AS first_unoffered,
  min(call_index) FILTER (WHERE NOT valid) AS first_invalid
FROM judged
GROUP BY trajectory_id;
