-- Nested model spans as one row: what may be a model call of its own.
--
-- The span of an agent that tells all its calls is one of them here.
--
-- Reads:
--   operations
--   runs_of_operations
--   known_parents
--   model_ends
-- Needs:
--   operations WHERE operation = 'model' OR tells_calls
-- Columns:
--   key         BIGINT    The outermost span; one row each.
--   members     BIGINT[]  All its spans.
--   run         BIGINT
--   scope_name  VARCHAR   Of the outermost span.
--   span_id     VARCHAR   Of the outermost span.
--   start_ns    BIGINT    Of the outermost span.
--   end_ns      BIGINT    Of the outermost span.
-- Order:
--   none
WITH containers AS (
  SELECT parent AS key
  FROM known_parents
  WHERE operation = 'model' AND parent_operation = 'model'
  GROUP BY parent
  HAVING count(*) > 1
),

members AS (
  SELECT
    operations.key,
    coalesce(model_ends.last, operations.key) AS outermost
  FROM operations
  LEFT JOIN model_ends USING (key)
  WHERE operations.operation = 'model' OR operations.tells_calls
),

calls AS (
  SELECT
    members.outermost,
    list_sort(list(members.key)) AS members
  FROM members
  LEFT JOIN containers USING (key)
  GROUP BY members.outermost
  HAVING count(containers.key) = 0
)

SELECT
  calls.outermost AS key,
  calls.members,
  runs_of_operations.run,
  operations.scope_name,
  operations.span_id,
  operations.start_ns,
  operations.end_ns
FROM calls
INNER JOIN operations ON calls.outermost = operations.key
INNER JOIN runs_of_operations USING (key);
