-- Nested model spans as one row, with their copies: the candidates for model calls.
--
-- The span of an agent that holds all its calls is included.
--
-- Reads:
--   operations
--   operation_runs
--   known_parents
--   model_copy_ends
--   model_edges
--   model_ends
-- Needs:
--   operations WHERE operation = 'model' OR tells_calls
-- Columns:
--   key         BIGINT    The outermost span, of copies that of the first; one row each.
--   members     BIGINT[]  All its spans.
--   run         BIGINT
--   scope_name  VARCHAR   From the outermost span.
--   span_id     VARCHAR   From the outermost span.
--   start_ns    BIGINT    From the outermost span.
--   end_ns      BIGINT    From the outermost span.
-- Order:
--   none
WITH containers AS (
  SELECT DISTINCT known_parents.parent AS key
  FROM known_parents
  ANTI JOIN model_edges USING (key)
  WHERE known_parents.operation = 'model' AND known_parents.parent_operation = 'model'
),

members AS (
  SELECT
    operations.key,
    coalesce(model_copy_ends.last, model_ends.last, operations.key) AS outermost
  FROM operations
  LEFT JOIN model_ends USING (key)
  LEFT JOIN model_copy_ends ON coalesce(model_ends.last, operations.key) = model_copy_ends.key
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
  operation_runs.run,
  operations.scope_name,
  operations.span_id,
  operations.start_ns,
  operations.end_ns
FROM calls
INNER JOIN operations ON calls.outermost = operations.key
INNER JOIN operation_runs USING (key);
