-- Tool spans that repeat the one around them: the same call, seen by an outer and an inner layer.
--
-- Same call id, or the same tool with arguments that do not differ; a missing id, name or argument
-- differs from nothing. What one scope wrote of two results is of two calls.
--
-- Reads:
--   tool_spans
--   known_parents
--   operations
-- Columns:
--   key   BIGINT  The inner span; one row each.
--   next  BIGINT  The outer span.
-- Order:
--   none
SELECT
  inside.key,
  around.key AS next
FROM tool_spans AS inside
INNER JOIN known_parents ON inside.key = known_parents.key
INNER JOIN tool_spans AS around ON known_parents.parent = around.key
INNER JOIN operations AS inside_told ON inside.key = inside_told.key
INNER JOIN operations AS around_told ON around.key = around_told.key
WHERE
  inside.call_id = around.call_id
  OR (
    inside.plain_name = around.plain_name
    AND coalesce(inside.call_id = around.call_id, true)
    AND coalesce(inside.match_arguments = around.match_arguments, true)
    AND (
      inside.scope_name <> around.scope_name
      OR NOT coalesce(inside.match_arguments = around.match_arguments, false)
      OR coalesce(contains(around_told.result, inside_told.result), true)
      OR contains(inside_told.result, around_told.result)
    )
  );
