-- Shapes of spans that each dialect may recognize.
--
-- One of its marks is in the scope's name, or in the name of an attribute.
--
-- Reads:
--   marked_names
--   shapes
-- Columns:
--   dialect  VARCHAR  One row for each dialect and shape.
--   shape    UBIGINT
-- Order:
--   none
WITH names AS (
  SELECT
    shape,
    unnest(list_append(names, scope_name)) AS name
  FROM shapes
)

SELECT DISTINCT
  marked_names.dialect,
  names.shape
FROM names
INNER JOIN marked_names USING (name);
