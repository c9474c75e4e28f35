-- Model spans that repeat the one around them: one call, seen by an outer and an inner layer.
--
-- A model span with several model spans below it contains calls but is none; no edge leads to it.
--
-- Reads:
--   known_parents
-- Columns:
--   key   BIGINT  The inner span; one row each.
--   next  BIGINT  The outer span.
-- Order:
--   none
SELECT
  key,
  parent AS next
FROM known_parents
WHERE operation = 'model' AND parent_operation = 'model'
QUALIFY count(*) OVER (PARTITION BY parent) = 1;
