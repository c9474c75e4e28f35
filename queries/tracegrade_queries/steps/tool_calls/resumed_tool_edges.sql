-- Edges from tool spans that paused to the span of their run that resumed the call.
--
-- It has the same call id, or the same tool with equal arguments if there are no ids.
--
-- Reads:
--   operations
--   tool_spans
-- Needs:
--   tool_spans WHERE key IN (SELECT key FROM operations WHERE paused)
-- Columns:
--   key   BIGINT  The span that paused; one row each.
--   next  BIGINT  The first of its run that starts later.
-- Order:
--   none
SELECT
  before.key,
  arg_min(later.key, (later.start_ns, later.span_id)) AS next
FROM tool_spans AS before
INNER JOIN operations ON before.key = operations.key
INNER JOIN tool_spans AS later
  ON
    before.run = later.run
    AND before.end_ns < later.start_ns
    AND (
      before.call_id = later.call_id
      OR (
        before.call_id IS NULL
        AND later.call_id IS NULL
        AND before.plain_name = later.plain_name
        AND before.match_arguments IS NOT DISTINCT FROM later.match_arguments
      )
    )
WHERE operations.paused
GROUP BY before.key;
