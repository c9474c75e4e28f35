-- Shapes of spans that each dialect may know: one of its marks is their scope's name, or that of
-- an attribute.
--
-- Reads:
--   marks
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
),

-- Most shapes share most names, and a mark is slow to look for.
marked_names AS (
  SELECT
    marks.dialect,
    distinct_names.name
  FROM (SELECT DISTINCT name FROM names) AS distinct_names
  INNER JOIN marks ON regexp_matches(distinct_names.name, marks.mark)
)

SELECT DISTINCT
  marked_names.dialect,
  names.shape
FROM names
INNER JOIN marked_names USING (name);
