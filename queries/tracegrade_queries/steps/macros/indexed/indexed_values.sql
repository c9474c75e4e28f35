-- The attributes of spans by position, for the shapes that `indexed_keys` describes.
--
-- The first relation has spans. The second has a row for each message or item of a shape, with the
-- positions of its attributes. `values` are those of a span in order, and `position_rows` the rows
-- of its shape. A join with several rows would copy all values of a span for each.
CREATE OR REPLACE TEMP MACRO indexed_values(RELATION, POSITIONS) AS TABLE
  WITH every_span AS (
    SELECT
      key,
      shape,
      scope_name,
      attributes
    FROM query_table(relation)
  ),

  by_shape AS (
    SELECT
      shape,
      list(positions_of_one) AS position_rows
    FROM query_table(positions) AS positions_of_one
    GROUP BY shape
  )

  SELECT
    every_span.key,
    every_span.scope_name,
    every_span.attributes,
    map_values(every_span.attributes) AS values,
    by_shape.position_rows
  FROM every_span
  INNER JOIN by_shape USING (shape);
