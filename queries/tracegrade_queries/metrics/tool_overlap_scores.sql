-- How far the tools that an attempt used are those that its task expects, whatever their order.
--
-- Source: metrics.md, section 2 (s1 selection); Agentic, "Tool correctness".
--
-- Reads:
--   attempts
--   tool_overlaps
--   tool_uses
-- Columns:
--   trajectory_id  VARCHAR  The attempt; one row each.
--   metric         VARCHAR  tool_selection_jaccard.
--   value          DOUBLE   Numerator / denominator; NULL if not scored.
--   numerator      DOUBLE   Calls matched with an expected one; NULL if not scored.
--   denominator    DOUBLE   Expected and made calls together; only expected ones where others are
--                           free; NULL if not scored.
--   status         VARCHAR  scored | not_applicable.
--   label          VARCHAR  NULL.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  static: no judge had a part in it.
-- Order:
--   trajectory_id
WITH measured AS (
  SELECT
    attempts.attempt_id,
    counted.matched,
    counted.total,
    CASE
      WHEN attempts.ambiguous THEN 'ambiguous_task'
      WHEN NOT attempts.specified THEN 'no_task'
      WHEN tool_uses.attempt_id IS NULL THEN 'no_expectation'
      WHEN counted.total = 0 THEN 'no_calls'
    END AS reason
  FROM attempts
  LEFT JOIN tool_uses USING (attempt_id)
  LEFT JOIN tool_overlaps AS counted
    ON tool_uses.task_id = counted.task_id AND tool_uses.uses = counted.uses
)

SELECT
  attempt_id AS trajectory_id,
  'tool_selection_jaccard' AS metric,
  if(reason IS NULL, matched / total, NULL)::DOUBLE AS value,
  if(reason IS NULL, matched, NULL)::DOUBLE AS numerator,
  if(reason IS NULL, total, NULL)::DOUBLE AS denominator,
  if(reason IS NULL, 'scored', 'not_applicable') AS status,
  NULL::VARCHAR AS label,
  reason,
  'static' AS source
FROM measured
ORDER BY trajectory_id;
