-- Model spans that repeat the one around them: one call, seen by an outer and an inner layer.
--
-- A model span with several calls below it contains calls but is not one; no edge leads to it.
-- Several spans with one response id are one call.
--
-- Reads:
--   known_parents
--   response_ids
-- Needs:
--   known_parents WHERE operation = 'model' AND parent_operation = 'model'
-- Ends:
--   model_ends
-- Columns:
--   key   BIGINT  The inner span; one row each.
--   next  BIGINT  The outer span.
-- Order:
--   none
WITH inner_spans AS (
  SELECT
    known_parents.key,
    known_parents.parent,
    coalesce(response_ids.response_id, known_parents.key::VARCHAR) AS response
  FROM known_parents
  LEFT JOIN response_ids USING (key)
  WHERE known_parents.operation = 'model' AND known_parents.parent_operation = 'model'
)

SELECT
  key,
  parent AS next
FROM inner_spans
QUALIFY
  min(response) OVER (PARTITION BY parent) = max(response) OVER (PARTITION BY parent);
