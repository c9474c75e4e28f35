-- Properties that the spans of one shape share.
--
-- Spans of one kind have one shape, so each name is examined once for each shape.
--
-- Reads:
--   mended_spans
-- Columns:
--   shape            UBIGINT    One row each.
--   scope_name       VARCHAR    '' if none was sent.
--   names            VARCHAR[]  Names of their attributes, in the order in which they were sent.
--   field_positions  BIGINT[]   Positions of names, without those of later items of lists
--                               (`a.1.b`).
-- Order:
--   none
WITH samples AS (
  SELECT
    shape,
    min(key) AS key
  FROM mended_spans
  GROUP BY shape
),

named AS (
  SELECT
    samples.shape,
    coalesce(mended_spans.scope_name, '') AS scope_name,
    map_keys(mended_spans.attributes) AS names
  FROM samples
  INNER JOIN mended_spans USING (key)
)

SELECT
  shape,
  scope_name,
  names,
  list_filter(
    generate_series(1, len(names)),
    LAMBDA position: NOT regexp_matches(names[position], '\.[1-9][0-9]*\.')
  ) AS field_positions
FROM named;
