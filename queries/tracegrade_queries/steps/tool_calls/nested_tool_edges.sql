-- Tool spans that repeat the one around them: the same call, seen by an outer and an inner layer.
--
-- They have the same call id, or the same tool with arguments that do not differ; a missing id,
-- name or argument differs from nothing. A context that leaks nests calls that ran in parallel.
-- Nested spans of one scope are two calls if the results differ, if the call was requested as
-- often, or if the outer span runs much longer than the inner one.
--
-- Reads:
--   tool_spans
--   known_parents
--   operations
--   requests
-- Needs:
--   known_parents WHERE parent_operation = 'tool'
-- Columns:
--   key   BIGINT  The inner span; one row each.
--   next  BIGINT  The outer span.
-- Order:
--   none
WITH pairs AS (
  SELECT
    inside.key,
    around.key AS next,
    inside.run,
    inside.tool_name,
    inside.match_arguments,
    inside.call_id = around.call_id AS has_same_id,
    inside.plain_name = around.plain_name
    AND coalesce(inside.call_id = around.call_id, TRUE)
    AND coalesce(inside.match_arguments = around.match_arguments, TRUE) AS is_alike,
    inside.scope_name = around.scope_name
    AND inside.match_arguments = around.match_arguments
    AND inside_operation.result IS NOT NULL
    AND around_operation.result IS NOT NULL AS may_be_another,
    contains(around_operation.result, inside_operation.result)
    OR contains(inside_operation.result, around_operation.result) AS has_same_result,
    -- A layer around a call adds little to its time.
    around.end_ns - around.start_ns - (inside.end_ns - inside.start_ns)
    > greatest(50_000_000, (around.end_ns - around.start_ns) // 4) AS goes_on
  FROM tool_spans AS inside
  INNER JOIN known_parents ON inside.key = known_parents.key
  INNER JOIN tool_spans AS around ON known_parents.parent = around.key
  INNER JOIN operations AS inside_operation ON inside.key = inside_operation.key
  INNER JOIN operations AS around_operation ON around.key = around_operation.key
),

doubtful AS (
  SELECT DISTINCT
    run,
    tool_name,
    match_arguments
  FROM pairs
  WHERE is_alike AND may_be_another AND has_same_id IS NULL
),

requested AS (
  SELECT
    doubtful.run,
    doubtful.tool_name,
    doubtful.match_arguments,
    count(*) AS times
  FROM doubtful
  INNER JOIN requests
    ON
      doubtful.run = requests.run
      AND doubtful.tool_name = requests.tool_name
      AND doubtful.match_arguments = requests.arguments
  GROUP BY doubtful.run, doubtful.tool_name, doubtful.match_arguments
),

executed AS (
  SELECT
    run,
    tool_name,
    match_arguments,
    count(*) AS times
  FROM tool_spans
  SEMI JOIN doubtful USING (run, tool_name, match_arguments)
  GROUP BY run, tool_name, match_arguments
),

executed_as_often AS (
  SELECT
    run,
    tool_name,
    match_arguments
  FROM requested
  INNER JOIN executed USING (run, tool_name, match_arguments, times)
)

SELECT
  pairs.key,
  pairs.next
FROM pairs
LEFT JOIN executed_as_often USING (run, tool_name, match_arguments)
WHERE
  coalesce(pairs.has_same_id, FALSE)
  OR (
    pairs.is_alike
    AND NOT (
      coalesce(pairs.may_be_another, FALSE)
      AND (NOT pairs.has_same_result OR pairs.goes_on OR executed_as_often.run IS NOT NULL)
    )
  );
