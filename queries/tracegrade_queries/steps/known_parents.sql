-- The nearest known operation above each known operation.
--
-- Reads:
--   operations
--   tree
--   unknown_ends
-- Columns:
--   key                BIGINT   Known operation; one row each.
--   operation          VARCHAR
--   parent             BIGINT   Nearest known operation above; NULL if there is none.
--   parent_operation   VARCHAR  What that is; NULL if there is none.
--   top                BIGINT   Highest span above that arrived, when parent is NULL; else NULL.
-- Order:
--   none
WITH known AS (
  SELECT
    key,
    operation
  FROM operations
  WHERE operation <> 'other'
),

ends AS (
  SELECT
    known.key,
    known.operation,
    coalesce(unknown_ends.last, tree.next, known.key) AS last
  FROM known
  LEFT JOIN tree ON known.key = tree.key
  LEFT JOIN unknown_ends ON tree.next = unknown_ends.key
)

SELECT
  ends.key,
  ends.operation,
  above.key AS parent,
  above.operation AS parent_operation,
  CASE WHEN above.key IS NULL THEN ends.last END AS top
FROM ends
LEFT JOIN known AS above ON ends.last = above.key AND ends.last <> ends.key;
