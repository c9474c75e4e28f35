-- Shapes of spans that each dialect may know: one of its marks is their scope's name, or that of
-- an attribute.
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
